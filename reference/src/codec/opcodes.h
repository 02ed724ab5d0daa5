// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tdref::opcode {

// Names as in Python's pickle module. Those that are not here are refused: they serve older
// protocols, recursive tuples and out-of-band buffers.
constexpr unsigned char kProto = 0x80;
constexpr unsigned char kFrame = 0x95;
constexpr unsigned char kStop = '.';

constexpr unsigned char kNone = 'N';
constexpr unsigned char kNewTrue = 0x88;
constexpr unsigned char kNewFalse = 0x89;
constexpr unsigned char kBinInt = 'J';
constexpr unsigned char kBinInt1 = 'K';
constexpr unsigned char kBinInt2 = 'M';
constexpr unsigned char kLong1 = 0x8a;
constexpr unsigned char kBinFloat = 'G';

constexpr unsigned char kShortBinUnicode = 0x8c;
constexpr unsigned char kBinUnicode = 'X';
constexpr unsigned char kBinUnicode8 = 0x8d;
constexpr unsigned char kShortBinBytes = 'C';
constexpr unsigned char kBinBytes = 'B';
constexpr unsigned char kBinBytes8 = 0x8e;

constexpr unsigned char kMark = '(';
constexpr unsigned char kEmptyTuple = ')';
constexpr unsigned char kTuple = 't';
constexpr unsigned char kTuple1 = 0x85;
constexpr unsigned char kTuple2 = 0x86;
constexpr unsigned char kTuple3 = 0x87;
constexpr unsigned char kEmptyList = ']';
constexpr unsigned char kAppend = 'a';
constexpr unsigned char kAppends = 'e';
constexpr unsigned char kEmptyDict = '}';
constexpr unsigned char kSetItem = 's';
constexpr unsigned char kSetItems = 'u';
constexpr unsigned char kEmptySet = 0x8f;
constexpr unsigned char kAddItems = 0x90;

constexpr unsigned char kBinPut = 'q';
constexpr unsigned char kLongBinPut = 'r';
constexpr unsigned char kMemoize = 0x94;
constexpr unsigned char kBinGet = 'h';
constexpr unsigned char kLongBinGet = 'j';

constexpr unsigned char kGlobal = 'c';
constexpr unsigned char kStackGlobal = 0x93;
constexpr unsigned char kReduce = 'R';
constexpr unsigned char kNewObj = 0x81;
constexpr unsigned char kBuild = 'b';
constexpr unsigned char kBinPersId = 'Q';

}  // namespace tdref::opcode
