import {
  ara,
  ces,
  dan,
  heb,
  hin,
  ind,
  ita,
  nld,
  nob,
  pol,
  por,
  rus,
  spa,
  swe,
  tur,
} from "stopword";
import { tokenize } from "./tokenize.ts";

/**
 * The function words of each language, which state the form of a question and not its subject. The lists of the
 * library, where they are given, lack most of the words that questions consist of.
 */
const LISTS: ReadonlyArray<readonly [words: string, library?: readonly string[]]> = [
  [
    `a about above after again against all also am among an and any are as at be because been before
    being between both but by can cannot could did do does doing down during each either few for from
    further had has have having he her here hers him his how however i if in into is it its itself just
    may me might more most must my neither no nor not of off on once only or other our ours out over own
    per same shall she should since so some such than that the their theirs them themselves then there
    therefore these they this those through thus to too under until up upon us very via was we were what
    when where whether which while who whom whose why will with within without would yet you your
    another anyone anything aren didn doesn don everything hasn haven isn ll myself re s someone
    something t ve wasn weren won wouldn yours yourself`,
  ],
  [
    `aber als am an auch auf aus bei beim bis da damit dann das dass dem den denn der des die dies diese
    diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es für gegen
    haben hat hatte hier ich ihr ihre im in ist ja kann kein keine können man mich mir mit muss nach
    nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so soll sollen sowie über um und uns
    unter vom von vor wann warum was weil welche welchem welchen welcher welches wenn wer werden wie
    wieder wir wird wo wurde wurden zu zum zur zwischen alle allem allen alles ander andere anderen
    anderes bin bist damals dafür dagegen daher darf darum davon dazu deine deinem deinen deiner deines
    dessen deren dir dich eben einfach etwas euch euer eure ganz gar gibt habe habt hin ihm ihn ihnen
    ihrem ihren ihrer ihres irgend irgendwie jede jedem jeden jeder jedes jene jetzt keinem keinen
    keiner konnte könnte könnten kannst lassen lässt manche mein meine meinem meinen meiner meines mehr
    möchte muß müssen nichts seinem seinen seiner seines seid selbst sollte sollten solche sonst unser
    unsere unserem unseren unserer usw viel vielleicht waren warst weg weiter weshalb weswegen wieso
    wieviel willst wirst wohin woher womit wofür wodurch woran worin worauf wozu würde würden zwar
    dürfen mag wollen wollte`,
  ],
  [
    `à au aux avec ce ces cet cette ceux chez comme comment dans de des donc dont du elle elles en entre
    est et être eu fait il ils je la le les leur leurs lui mais me même mes mon ne nos notre nous on ont
    ou où par pas peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses
    si son sont sous sur ta te tes ton tu un une vos votre vous y ai aucun aucune aurait avait avez
    avoir avons afin ainsi alors après aussi auquel autre autres avant beaucoup ça car cela celle celles
    celui ceci chaque combien d depuis dès devoir doit doivent dois eux faire faites faut font ici j
    jusqu l laquelle lequel lesquels lorsque m moi n parce pendant peu peuvent peux pouvoir pourrait
    près puis puisque quelque quelques rien s sera serait soi soit sommes suis t tous tout toute toutes
    très toi trop veux voici voilà était étaient étant`,
  ],
  [
    `algo alguien algún alguna algunas algunos ahí allí ambos ante antes aquel aquella aquello aquí así
    aunque bajo bien cada casi cierto cómo cuáles cuánta cuántas cuánto cuántos debe deben debería debo
    dónde durante ella ellas ellos entonces era eran es esa esas eso esos está estaba estamos están
    estar estas este esto estos estoy fue fueron gran ha haber había hace hacer hacia hago han has hay
    he hemos hizo e i la le les lo mi mía mío mis misma mismo mucha muchas mucho muchos nada nadie
    nosotros nuestra nuestras nuestro nuestros nunca o os otra otras otro otros para pero poca pocas
    podemos podría puede pueden puedo pues qué quién quiénes quiero se sea según ser será si sido
    siempre siendo solo somos son soy suya suyo tal también tampoco tan tanto te tengo tener tiene
    tienen toda todas todavía todo todos tras tu tus tuyo un unas unos usted ustedes vosotros voy y ya
    yo`,
    spa,
  ],
  [
    `ainda algo alguém algum alguma algumas alguns ali antes apenas aqui assim até bem cada cadê cá certo
    coisa consigo contra cujo deve devem devo dever desde dessa desse desta deste disso disto dizer
    durante é és era eram está estamos estão estar estava estou faço fazer faz foi for foram fosse há
    havia isso lá lhe logo mim minha nada nele nela nenhum nessa nesse nesta neste ninguém nunca onde
    outra outras outro outros pode podem podemos poder poderia posso pois porque porquê pouco qualquer
    quanto quantos quero são ser será seria sempre sendo sido sob sobre somos sou tal talvez tanto tão
    tem têm tenho ter teria tinha toda todas todo todos tudo vai vamos vem vou`,
    por,
  ],
  [
    `ancora anche allora altra altre altri altro attraverso ben chiunque ciascuno ciò cos cosa così d da
    devo deve devono dentro dopo dovrei dunque ecco entrambi essa esse essi esso essere fa fare fino
    forse fra già giù lì là loro mai malgrado me meglio meno mentre molta molte molti molto neanche
    nemmeno neppure nessun nessuna nessuno niente nulla né ogni ognuno oltre oppure ora ovvero ovunque
    però po' poco poi possiamo posso possono potere potrei potrebbe prima proprio può pure qua qual
    qualche qualcosa qualcuno quando quasi quest quell quindi sarà sé sempre senza sia sopra sotto
    stesso stessa subito tale tanto te tranne troppo tuttavia uno vai verso via voglio volere vuole vuoi`,
    ita,
  ],
  [
    `aangezien achter af alleen allemaal anders beide bent bij binnen boven buiten daarom daarvoor deed
    dezelfde dezen dingen dus echter eigen elk elke enkel enkele erg ergens ervan gaan gaat geleden
    gedaan graag had hebt hen hetzelfde hoeveel hoewel iedere iedereen ikzelf indien jij jou jouw jullie
    kunt kun kwam laat maken meest meestal mezelf mijne mocht mogen moeten nadat nergens niemand nooit
    omdat onder ongeveer onze onszelf ooit pas samen sinds slechts sommige soms steeds tijdens totdat
    tussen uwe vaak vanaf verder via vol volgens waarbij waardoor waarin waarmee waarom waarop waarvan
    waarvoor wanneer weer weinig welk welke werden wijze wilt wordt worden zelfs zichzelf ziet zoals
    zoveel zulke zullen`,
    nld,
  ],
  [
    `absolut allting bör borde båda därmed därtill dessutom emellan era finns gör hurdan häri hos måste
    mitt själva sig somliga skulle trots varandra varav varefter varför varmed varpå verkligen vilkens
    vårt`,
    swe,
  ],
  [
    `alene allerede altid altså andres burde bør dens derfor derfra derved dets eder eders ellers endnu
    enten fordi gennem gør gøre hendes herfra hvilke hvilket hvis hvorhen hvorledes hvoraf hvortil
    hvorved imellem imens imod ingenting inden intet jeres kunnet lige måtte mellem min mig mest
    nogensinde næppe ofte omkring overfor sammen siden skulle snart sådanne sådant tit trods uden
    undtagen vores vort være`,
    dan,
  ],
  [
    `alle allerede alltid andre annen annet at bak bli bort burde bør da dersom derfor dit egen ei eit
    ein eller enda ennå enten fikk fleire flere for fra få får gjennom gjorde gjør gjøre ham han har
    henne hos hvordan hvorfor hvilket ikkje ingenting innen inne jo kanskje korleis kva kvifor kven
    mange med meg mens mer mest mye må måtte nei no noko noen ofte også oss sidan sin sjølv skal skulle
    slik snart som store så sånn til tilbake under uten var vart ved veldig vere vi vil ville vår våre
    vårt`,
    nob,
  ],
  [
    `aina ainakin alla aika ehkä ei eivät eikä ellei en enemmän ennen enää entä eri että hän häneen
    hänellä hänen hänet heidän heille he hyvin ilman itse ja jo joiden johon joita joka jokin joko joku
    jolla jolle jonka jonkin jos joskus jossa josta jota jotain jotka joten jotta juuri kai kaikki
    kaikkea kaikkien kanssa kautta kenelle kenen keneltä ken kerran ketkä ketä koko koska kuin kuinka
    kuitenkin kuka kumpi kun kunnes kuten kyllä lisäksi luona me meidän meille meillä mieltä mihin mikä
    miksi mikään millä millainen milloin miltä minkä minne minua minulla minulle minulta minun minusta
    minut minä missä mistä miten mitkä mitä mitään moni monta mutta muita muu muut muutama myös
    myöhemmin ne niiden niillä niin niitä noin nuo nyt näiden näin näitä nämä ole olen olet oli olin
    olivat olisi olla ollut omaa oma oman omat omalla on onko ovat paitsi pitää pitäisi saa saada saan
    se sekä sellainen sen siellä siihen siinä siitä sillä silloin silti sinun sinulla sinä sitä sitten
    suhteen taas tai tavalla te teidän tällä tämä tämän tänne täytyy tässä tästä tätä tuo tuolla tulee
    tulisi vaan vai vaikka vain vielä voi voidaan voin voinko voisi voisin voit voivat vähän yli`,
  ],
  [
    `вас ваш ваша ваше вдруг ведь весь вместо вокруг впрочем всё вся давай делать для его ещё её значит
    зачем или именно иметь использоваться их каждый какая какие какое каком которая которое которой
    который которые куда кем когда ком кому кроме либо меньше мною могут могу можем может мочь моего
    моей моём моему моим моих моё мои мой нам нами наш наша наше наши него нельзя некоторые нём
    несколько нету никто ничто нужен нужна нужно нужны обычно одна одни однако около отчего очень пока
    почему поэтому просто пусть самого свой своё своего своей свои себе сейчас слишком снова сколько
    собой стал также такая такие таким такое такой тот тебе тобой той туда тут чей чем чём чему чтобы
    что эта этих это этого этой этому`,
    rus,
  ],
  [
    `я а або авжеж адже але б багато без би більше більш був була були було бути в вам вами вас ваш ваша
    ваше весь вже ви від він вона вони воно все всі всіх вся всього де для до дуже є ж же з за завжди
    замість зараз зі і із інша інше інші її їй їм їх їхній й його йому ким кого кожен кожна коли котрий
    крім куди лише майже має мають ме мене мені ми між мій мною мо мого моєї моє моєму моїм моїх мої
    могла могли може можемо можете можна можу можуть моя на навіть навіщо над нам нами нас наш наша наше
    не неї нема немає ним ними них ні ніж ніхто ніщо ну о один одна одне ось от отже під після по поки
    поза потім потрібен потрібна потрібно потрібні про просто проте при сам сама саме свого своєї своє
    свої своя себе скільки собі собою та так така такий таке такі також там твій твоє твоя те тебе теж
    ти тим тими тих ті тільки то тобі тобою тоді того той тому тут у усе усі хіба хоча хто це цей ці
    цього цьому цю ця чи чим чий чого чому ще що щоб щось як яка яке який яким яких якої якщо які`,
  ],
  [
    `albo ależ bardzo bez będę będziesz by byłem byłam chce chcę chcesz choć czego czegoś czemuś człowiek
    dlań dlatego dokładnie dzięki gdyby ilu ileż inną innego innej jakiego jakiej jakich jakim jakimi
    jaką jeszcze jestes jesteś jesteśmy kimś kogo komu które którymi którą lecz mam masz mieć mogę
    możemy możesz mógł mogłaby mogłem musieć muszę musisz mojego mojej mojemu moich moimi moją naszej
    naszym nasi niż nawet niektóre np oprócz owe po powinienem przy sam samo samym siebie skoro swego
    swojego swojej swoim swoją tamten tą temu tobie twojego twojej umiem wam wami waszego wielu wy znów
    żadnego`,
    pol,
  ],
  [
    `aniž čeho čem čemu či čím další dokud dosud ho chci jaká jaké jaký jakého jakém jakou jaks jimž
    jinou jinde každý každá každé kdybych kdyby komu kolem koho kterého kterém kterému kterým kterých
    kterými mohu mohli moci mojí mou mého mému mých mým mými můžeme můžete můžeš můžu musím musíme nad
    nám námi našeho naší nebude nejsem nejsme nejste někdy někteří některé některý nějaká nějaké nějaký
    nikdo nikdy nimi nich oba odkud pouze prý sám sama samo se si svá své svého svému svoje takto takový
    taková tě tebou ten toho tohle totiž tvůj tys tyto vám vámi vlastní vsak všichni všech zase zdali`,
    ces,
  ],
  [
    `acaba ait ama ancak artık bana başka bazı belki bende benden bile bizde bize böyle buna bunu çok
    çünkü da daha dahi de değil demek diye dolayı edebilir ederim edemem eğer en fakat gerek gerekir
    gerekiyor gibi hala hangisi hani hatta hem hep her hiç için ile ilgili ise işe kaç kadar kendi ki
    kim kimin lazım mı mıdır mi midir mu mudur mü müdür nasıl nasıldır ne neden nedir nelerdir nerede
    nereden nereye neyi niçin niye olabilir olan olarak oldu olduğu olmalı olmuyor olsa olur o ona onda
    ondan onu onun öyle oysa pek rağmen sanki sen senin siz sizin sonra şey şöyle şu tüm var varsa ve
    veya ya yani yapabilirim yaparım yapmak yok yoksa zaman`,
    tur,
  ],
  [
    `أحد أستطيع أعني ألم أليس أيضا أيضاً أنني أنه أنها إليه إليها إنه إنها إني استطيع بدون بعدها بكيف
    تكون تلك حاليا حينما خاص دائما ذلك سأ عندك عنده عندي عنه عنها فقط فكيف فلماذا فهل كذلك كل كم كيف لأن
    لأنه لدي لديك لديه لدينا لكنه للذي لماذا لي ليس ليست ما ماذا ماهو ماهي متى معي معه مني هؤلاء هل هناك
    وأنا وإذا والتي والذي وكذلك وكيف ولا ولكن ولماذا وليس وما وماذا ومتى ومن وهل وهذا وهذه يجب يكون يمكن
    يمكنك يمكنني يمكننا ينبغي`,
    ara,
  ],
  [
    `אותנו אז איזו אילו אין איני איננו אינו אפשר אצלו אצלי אצלך אצלנו אשמח בה בהם בו בי בך במה ב בכלל
    בבקשה ה הזאת הזה האם האלה ואיך ואני וגם והאם ומה ומתי ולמה ו זו חייב יש יכולתי כאלה כ כדאי כולל ככה
    כמה כשאני ל לאן לגבי להיות לזה לכל לעשות מ מאוד ממני מהו מהי מהם מישהו משהו מתי נא נוכל ניתן עבור
    עכשיו עליי פשוט צריך צריכה צריכים רוצה ש שאני שזה שיש שלי תמיד`,
    heb,
  ],
  [
    `अगर अपने आता आती आते आपका आपकी आपके इतना इसमें उन उन्हें उसमें उसको एक ऐसा कब कभी करूँ करूं करना
    करनी कहाँ कहां काम किन किसका किसको किसलिए कैसा कैसी कैसे को कोई क्या क्यूँ क्यों क्योंकि चाहिए चाहते
    जाता जाती जाते जैसे जिससे तुम तुम्हारा तुम्हें थोड़ा दे दें देता दोनों नहीं पास बारे बिना भी मत
    मुझको मुझसे मुझे मैं मैंने मेरा मेरी मेरे यदि यहाँ रहा रही वही वाला वाली सकती सकते सकूँ सकूं सिर्फ
    हम हमारा हमारी हमारे हमें हूँ हूं हो हैं होगा होगी होंगे`,
    hin,
  ],
  [
    `apa apakah aku anda bagaimana bagaimanakah dapatkah di gimana itu kalo kamu ke kenapa mereka punyaku
    saya saja sih tak tersebut yang dalam`,
    ind,
  ],
  [
    `ai anh ấy bao giờ lâu nhiêu bạn bằng bên bị bởi các cách cái cần chỉ cho chúng ta chưa có thể cô còn
    của cùng cũng dưới đã đang đâu đấy để đến đều đi đó đây được gì giữa hãy hay hơn hoặc họ không khi
    là làm lại lên lúc mà mấy mình mỗi một muốn này nào nên nếu ngay người nhau nhé nhiều như nhưng
    những nó nơi ở ra rằng rất rồi sao sau sẽ sự tại tất thành theo thế thì tôi trên trong trước từ từng
    và vào vẫn vậy về vì với xin`,
  ],
  [
    `は が を に へ と で の も や か から まで より など って ね よ わ な だ です でした でしょう ます ました ません ましょう ですか ますか のです のか する した して
    します しました しない したい される された ある あり あった ない なく なかった いる い いて いた いない れる られる せる させる なる なり なった できる でき できます
    できない できません たい たく どう どうして どうやって どうすれば どの どのように どのような どれ どこ どちら どんな なぜ 何 なに なん 何ですか いつ 誰 だれ いくつ これ それ
    あれ この その あの こう そう ここ そこ こちら 私 わたし 僕 俺 あなた 彼 彼女 自分 くださ ください 下さい 教え 教えて 欲しい ほしい こと もの ため ための ように ような
    よう とき 時 とは には では でも ても けど しかし また または および ので のに なら ば について という として による によって において に対して ございます いただけ
    いただけます`,
  ],
  [
    `은 는 이 가 을 를 에 에서 에게 의 로 으로 와 과 도 만 까지 부터 란 이란 라는 이라는 에는 에도 어떻게 어떤 어느 무엇 무엇을 무엇이 무엇인가요 무엇입니까 무슨 뭐 뭔가요
    뭐예요 왜 언제 어디 어디서 어디에 누가 누구 몇 얼마나 이것 그것 저것 이거 그거 그 저 제 제가 내 내가 나 나는 나의 저는 저의 우리 우리의 당신 여기 거기 하나요 하나
    합니까 합니다 하는 하고 하기 하려면 하면 하면서 해 해서 해야 해요 했다 한 한다 할 하다 될 되나요 되는 된 되지 됩니다 인가요 인가 입니다 입니까 이다 이에요 예요 있나요
    있는 있다 있습니까 있습니다 있을까요 없나요 없는 없다 없이 없습니다 않는 않나요 않고 않습니다 않아요 안 못 대해 대한 위해 위한 때 때문에 것 것은 것이 수 수가 및 또는
    그리고 그러나 하지만 좀 주세요 알려주세요 싶어요 싶습니다 이유는 무엇인지 인지 경우 더 가장 모든 다른 같은`,
  ],
  [
    `的 地 得 了 着 过 是 在 和 与 跟 或 或者 而 而且 但 但是 也 都 就 才 只 不 没 没有 有 我 你 您 他 她 它 我们 你们 他们 我的 你的 这 那 这个 那个 这些 那些
    这里 那里 这样 那样 哪 哪里 哪些 哪个 什么 怎么 怎样 怎么样 如何 为什么 为何 吗 呢 吧 啊 呀 把 被 对 对于 关于 从 到 由 给 让 使 可以 可否 能 能否 能不能 能够 会
    要 想 应该 需要 必须 一 一个 一下 一些 请 请问 多少 几 谁 时 时候 什么时候 中 里 上 下 后 前 之 其 并 并且 以 以及 及 等 个 如果 因为 所以 因此 还 还是 又 再 很
    最 更 太 是否 是不是 有没有 怎么办 意思 什么意思 是什么 麼 什麼 怎麼 怎麼樣 為什麼 為何 嗎 這 這個 這些 這裡 個 們 我們 你們 他們 裡 對 對於 關於 從 給 讓 會 還 還是
    沒 沒有 後 與 過 應該 請 請問 幾 誰 時 時候 什麼時候 並 並且 因為`,
  ],
];

/** The languages of the lists, by the bit of `languagesOf`. */
export const FUNCTION_WORD_LANGUAGES: readonly string[] =
  "en de fr es pt it nl sv da no fi ru uk pl cs tr ar he hi id vi ja ko zh".split(" ");

/**
 * Words of the library's lists that are subjects of questions: page, news, article, number, class, house, case,
 * problem.
 */
const SUBJECTS = `strana zprávy článku články článků tipy jména číslo घर वर्ग נגר नया kata kasus masalah jumlah waktu tempat
  bagian soal tahun hari bulan umum dag dagar dagarna dagen beslut nummer sådan`;

/** The languages by token, for comparisons with the words of a query. Read at the first query. */
let languages: ReadonlyMap<string, number> | undefined;

function readLists(): ReadonlyMap<string, number> {
  const read = new Map<string, number>();
  const subjects = new Set(tokenize(SUBJECTS));
  LISTS.forEach(([words, library = []], language) => {
    const listed = tokenize(library.join(" ")).filter((word) => !subjects.has(word));
    for (const word of [...tokenize(words), ...listed]) {
      read.set(word, (read.get(word) ?? 0) | (1 << language));
    }
  });
  return read;
}

/** The languages in which a word is a function word: bit l for language l. */
export function languagesOf(word: string): number {
  languages ??= readLists();
  return languages.get(word) ?? 0;
}
