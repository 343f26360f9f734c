/** Ways to ask about something, which stands for `{}`, by language. */
export const FRAMES: Readonly<Record<string, readonly string[]>> = {
  en: [
    "how do I use {} in my site",
    "how can I set up {}",
    "what is {} and why would I need it",
    "I can't get {} to work, what am I doing wrong?",
    "where do I find {} and how does it work",
  ],
  de: [
    "wie kann ich {} in meiner Seite verwenden",
    "was ist {} und wann brauche ich es",
    "warum funktioniert {} bei mir nicht",
  ],
  fr: [
    "comment est-ce que je peux utiliser {} dans mon site",
    "qu'est-ce que {} et à quoi ça sert",
    "pourquoi {} ne marche pas chez moi",
  ],
  es: ["cómo puedo usar {} en mi sitio", "qué es {} y para qué sirve", "por qué no me funciona {}"],
  pt: [
    "como posso usar {} no meu site",
    "o que é {} e para que serve",
    "por que {} não funciona para mim",
  ],
  it: [
    "come posso usare {} nel mio sito",
    "che cos'è {} e a cosa serve",
    "perché {} non funziona da me",
  ],
  nl: [
    "hoe kan ik {} gebruiken in mijn site",
    "wat is {} en waarom heb ik het nodig",
    "waarom werkt {} niet bij mij",
  ],
  sv: [
    "hur kan jag använda {} på min sida",
    "vad är {} och när behöver jag det",
    "varför fungerar inte {} för mig",
  ],
  da: [
    "hvordan kan jeg bruge {} på min side",
    "hvad er {} og hvornår har jeg brug for det",
    "hvorfor virker {} ikke hos mig",
  ],
  no: [
    "hvordan kan jeg bruke {} på siden min",
    "hva er {} og når trenger jeg det",
    "hvorfor virker ikke {} hos meg",
  ],
  fi: [
    "miten voin käyttää {} omalla sivullani",
    "mikä on {} ja mihin sitä tarvitaan",
    "miksi {} ei toimi minulla",
  ],
  ru: [
    "как я могу использовать {} на моём сайте",
    "что такое {} и зачем это нужно",
    "почему у меня не работает {}",
  ],
  uk: [
    "як я можу використати {} на моєму сайті",
    "що таке {} і навіщо це потрібно",
    "чому у мене не працює {}",
  ],
  pl: [
    "jak mogę użyć {} na mojej stronie",
    "co to jest {} i do czego to służy",
    "dlaczego {} u mnie nie działa",
  ],
  cs: [
    "jak můžu použít {} na svých stránkách",
    "co je to {} a k čemu to slouží",
    "proč mi {} nefunguje",
  ],
  tr: ["sitemde {} nasıl kullanabilirim", "{} nedir ve ne işe yarar", "{} bende neden çalışmıyor"],
  ar: ["كيف يمكنني أن أستخدم {} في موقعي", "ما هو {} ولماذا أحتاج إليه", "لماذا لا يعمل {} عندي"],
  he: ["איך אני יכול להשתמש ב {} באתר שלי", "מה זה {} ולמה אני צריך את זה", "למה {} לא עובד אצלי"],
  hi: [
    "मैं अपनी साइट में {} का उपयोग कैसे कर सकता हूँ",
    "{} क्या है और यह किस काम आता है",
    "मेरे लिए {} काम क्यों नहीं करता",
  ],
  id: [
    "bagaimana saya bisa menggunakan {} di situs saya",
    "apa itu {} dan untuk apa gunanya",
    "mengapa {} tidak bekerja pada saya",
  ],
  vi: [
    "làm thế nào để tôi dùng {} trong trang của tôi",
    "{} là gì và nó dùng để làm gì",
    "tại sao {} không chạy với tôi",
  ],
  ja: ["{}はどうやって使うのですか", "{}とは何ですか", "私のサイトで{}が動かないのはなぜですか"],
  ko: [
    "{}는 어떻게 사용하나요",
    "{}란 무엇인가요",
    "제 사이트에서 {}가 작동하지 않는 이유는 무엇인가요",
  ],
  th: ["ฉันจะใช้ {} ในเว็บไซต์ของฉันได้อย่างไร", "{} คืออะไร และใช้ทำอะไร", "ทำไม {} ถึงไม่ทำงานสำหรับฉัน"],
  zh: ["怎么在我的网站中使用{}", "{}是什么，有什么用", "为什么{}在我这里不起作用"],
};

/** The question that a frame asks about something. */
export function framed(frame: string, subject: string): string {
  return frame.replace("{}", () => subject);
}
