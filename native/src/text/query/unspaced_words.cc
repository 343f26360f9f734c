#include "text/query/unspaced_words.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "common/keyed_hash.hpp"
#include "text/analysis/folding.hpp"
#include "text/analysis/function_words.hpp"
#include "text/analysis/unicode.hpp"

namespace tessera {

namespace {

using View = std::u16string_view;

/// Function words in Chinese and Thai, in addition to those of the language: from the package stopword (MIT License, the
/// Thai ones Apache License 2.0).
constexpr View FUNCTION_WORDS = uR"(
向 已 含 做 们 某 该 各 每 什 么 年 月 日 分 秒 多 来 嘛 哇 儿 哼 嗯 说 看 小 为 于 第 此 共 按 กล่าว กว่า กัน กับ การ ก็ ก่อน ขณะ ขอ ของ ขึ้น
คง ครั้ง ความ คือ จะ จัด จาก จึง ช่วง ซึ่ง ดัง ด้วย ด้าน ตั้ง ตั้งแต่ ตาม ต่อ ต่าง ต่างๆ ต้อง ถึง ถูก ถ้า ทั้ง
ทั้งนี้ ทาง ที่ ที่สุด ทุก ทํา ทําให้ นอกจาก นัก นั้น นี้ น่า นํา บาง ผล ผ่าน พบ พร้อม มา มาก มี ยัง รวม ระหว่าง
รับ ราย ร่วม ลง วัน ว่า สุด ส่ง ส่วน สําหรับ หนึ่ง หรือ หลัง หลังจาก หลาย หาก อยู่ ออก อาจ อีก เขา เข้า เคย
เฉพาะ เช่น เดียว เดียวกัน เนื่องจาก เปิด เปิดเผย เป็น เป็นการ เพื่อ เมื่อ เริ่ม เลย เห็น เอง แต่ แบบ แรก และ
แล้ว แห่ง โดย ใน ให้ ไป ไม่ ไว้
)";

/// Words of questions in general: use, method, tell, know.
constexpr View OF_QUESTIONS = uR"(
使用 用 用法 方法 告诉 告訴 知道 想要 哪個 能夠 关于 關於 有沒有 是什麼 起作用 作用 生效 有效 奏效 使い方 やり方 仕方 使い 使う 使っ 知り 方 場合 時 事 為 사용 방법 알고 통해 관한 관해
대하여 대해서 ใช้ ใช้งาน วิธี วิธีการ อะไร อย่าง อย่างไร ไร ยังไง ทำไม ทำ ทำงาน ฉัน ผม ดิฉัน คุณ เรา ของฉัน ได้ ไหม
มั้ย หรือไม่ คืออะไร ไหน เมื่อไร เมื่อไหร่ ที่ไหน ใคร ช่วย หน่อย ครับ ค่ะ คะ นะ ต้องการ อยาก สามารถ เพราะ
เพราะอะไร เกี่ยวกับ สำหรับ หมายถึง
)";

/// Places of use, as in `在我的网站中` (in my website). Before a word of WITHIN they count as function words.
constexpr View PLACES = u"项目 专案 网站 站点 网页 工程 程序 应用 电脑";
constexpr View WITHIN = u"中 里 上 内";

/// Particles and endings that follow a noun or the stem of a verb in Korean.
constexpr View KOREAN_ENDINGS = uR"(
은 는 이 가 을 를 의 에 에서 에서는 에는 에게 에게서 께 한테 으로 로 으로는 로는 으로서 로서 으로써 로써 와 과 와는 과는 랑 이랑 하고 도 만 까지 부터 마다 조차 마저 밖에 처럼 보다 이나
나 이란 란 이라는 라는 이라고 라고 에도 에만 에서도 들 들은 들을 들이 들의 인가요 인가 입니까 입니다 이다 이며 이면 이고 이에요 예요 하다 하는 하는지 하나요 합니까 합니다 하세요 하십시오 해요
했다 했던 하여 하여야 하기 하면 하려면 할 한 함 해 해서 해야 되는 되나요 됩니까 됩니다 된 될 되다 되어 되지 되면 하지 하는데 시키는 시킵니다 어요 아요 나요 습니다 습니까 는지 려면 으려면 기
할까요 할까 인지
)";

/// Endings that may follow a noun of one syllable. With another ending the syllable would form a word.
constexpr View AFTER_SYLLABLE = u"은 는 을 를 의 에 란 이란";

/// Calls `visit` for each word of a list.
template <typename Visit>
void eachListed(View list, const Visit& visit) {
  for (size_t start = 0, end = 0; start < list.size(); start = end + 1) {
    end = std::min(list.find_first_of(u" \n", start), list.size());
    if (end > start) visit(list.substr(start, end - start));
  }
}

bool isListed(View list, View word) {
  bool isFound = false;
  eachListed(list, [&](View own) { isFound = isFound || own == word; });
  return isFound;
}

/// All function words, in simplified characters.
using Words = std::unordered_set<std::u16string, KeyedHash, std::equal_to<>>;

Words readWords() {
  Words words;
  const auto add = [&](View list) { eachListed(list, [&](View own) { words.insert(simplifiedOf(own)); }); };
  add(FUNCTION_WORDS);
  add(OF_QUESTIONS);
  for (const auto& [code, list] : functionWordLists()) {
    if (code == "ja" || code == "ko" || code == "zh") add(list);
  }
  return words;
}

bool isFunctionWord(View simplified) {
  // Never destroyed, because worker threads may still read it while the process exits.
  static const Words* const words = new Words(readWords());
  return words->contains(simplified);
}

/// Words in hiragana only are mostly particles, endings and auxiliaries of Japanese.
bool isHiragana(char32_t own) {
  const bool isLetter = (own >= 0x3041 && own <= 0x3096) || (own >= 0x309d && own <= 0x309f) || own == U'ー';
  const bool isRare = (own >= 0x1b001 && own <= 0x1b11f) || own == 0x1b132 || (own >= 0x1b150 && own <= 0x1b152);
  return isLetter || isRare || own == 0x1f200;
}

bool isHangul(char32_t character) {
  const CharacterProperties& own = propertiesOf(character);
  return own.has(HANGUL_LETTER) || own.grapheme == OPEN_SYLLABLE || own.grapheme == CLOSED_SYLLABLE;
}

/// The length of the ending of a Korean word.
size_t endingOf(View word) {
  size_t longest = 0;
  eachListed(KOREAN_ENDINGS, [&](View ending) {
    if (ending.size() <= longest || ending.size() >= word.size() || !word.ends_with(ending)) return;
    if (word.size() - ending.size() > 1 || isListed(AFTER_SYLLABLE, ending)) longest = ending.size();
  });
  return longest > 0 && consistsOf(word, isHangul) ? longest : 0;
}

}  // namespace

UnspacedWords::UnspacedWords(View text, std::span<const WordBreak> breaks) : text_(text) {
  size_t start = 0;
  bool isPlace = false;
  for (const auto& [end, isWord] : breaks) {
    const std::u16string simplified = simplifiedOf(text.substr(start, end - start));
    if (isPlace && isListed(WITHIN, simplified)) words_.back().isFunctional = true;
    isPlace = isListed(PLACES, simplified);
    if (isWord) add(start, end, simplified);
    else words_.push_back({start, end, true});
    start = end;
  }
}

bool UnspacedWords::isChance(size_t start, size_t end) const {
  const auto first = wordAt(start), last = wordAt(end - 1);
  if (first->isFunctional || last->isFunctional) return true;
  // Dictionaries lack words: a remaining single character belongs to its neighbours.
  return first != last && !isSingle(*first) && !isSingle(*last);
}

std::optional<View> UnspacedWords::loneWordAt(size_t position) const {
  const std::span<const Word> words = words_;
  const auto word = wordAt(position);
  if (word->isFunctional || !isSingle(*word)) return std::nullopt;
  const bool isFirst = word == words.begin() || (word - 1)->isFunctional;
  const bool isLast = word + 1 == words.end() || (word + 1)->isFunctional;
  return isFirst && isLast ? std::optional(textOf(*word)) : std::nullopt;
}

void UnspacedWords::add(size_t start, size_t end, View simplified) {
  const View word = text_.substr(start, end - start);
  if (isFunctionWord(simplified) || consistsOf(word, isHiragana)) {
    words_.push_back({start, end, true});
    return;
  }
  const size_t ending = endingOf(word), stem = word.size() - ending;
  words_.push_back({start, start + stem, ending > 0 && isFunctionWord(word.substr(0, stem))});
  if (ending > 0) words_.push_back({start + stem, end, true});
}

std::span<const UnspacedWords::Word>::iterator UnspacedWords::wordAt(size_t position) const {
  return std::ranges::upper_bound(std::span<const Word>(words_), position, {}, &Word::end);
}

bool UnspacedWords::isSingle(const Word& word) const {
  const View text = textOf(word);
  return graphemeEnd(text, 0) == text.size();
}

}  // namespace tessera
