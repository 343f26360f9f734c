import { describe, expect, test } from "bun:test";
import { RANKS } from "../../../../bench/relevance/measure.ts";
import { pathsOf, searchText, type TextView } from "../../../../support/text-search.ts";
import { documentOf, viewOf } from "./documents.ts";

/** Topics of a handbook; each page is about one, and mentions others. */
const TOPICS = {
  zh: `组件 插件 路由 主题 模板 表单验证 数据绑定 状态管理 国际化 单元测试 构建工具 服务器渲染 生命周期 事件处理 条件渲染 列表渲染 动画效果
    错误处理 性能优化 代码分割 缓存策略 权限控制 日志记录 定时任务 消息队列 全文搜索 图片压缩 文件上传 用户登录 密码重置 版本发布 数据备份 环境变量`,
  ja: `コンポーネント プラグイン ルーティング テーマ テンプレート フォーム検証 データ結合 状態管理 国際化 単体テスト ビルドツール サーバー描画
    ライフサイクル イベント処理 条件付き表示 一覧表示 アニメーション エラー処理 性能改善 コード分割 キャッシュ戦略 権限管理 ログ出力 定期実行
    メッセージキュー 全文検索 画像圧縮 ファイル送信 ユーザー認証 パスワード再設定 版の公開 バックアップ 環境変数`,
  ko: `컴포넌트 플러그인 라우팅 테마 템플릿 양식검증 데이터바인딩 상태관리 국제화 단위테스트 빌드도구 서버렌더링 생명주기 이벤트처리 조건부렌더링
    목록표시 애니메이션 오류처리 성능개선 코드분할 캐시전략 권한관리 로그출력 예약작업 메시지큐 전문검색 이미지압축 파일업로드 사용자인증
    비밀번호재설정 버전배포 백업 환경변수`,
  th: `ส่วนประกอบ ปลั๊กอิน เส้นทาง ธีม แม่แบบ แบบฟอร์ม ฐานข้อมูล สถานะ ภาษา การทดสอบ เครื่องมือ เซิร์ฟเวอร์ วงจรชีวิต เหตุการณ์ เงื่อนไข รายการ
    ภาพเคลื่อนไหว ข้อผิดพลาด ประสิทธิภาพ รหัสผ่าน แคช สิทธิ์ บันทึก กำหนดการ ข้อความ ค้นหา รูปภาพ อัปโหลด ผู้ใช้ แป้นพิมพ์ รุ่น สำรองข้อมูล เครื่องพิมพ์`,
} as const;
type Language = keyof typeof TOPICS;

/** A page on a topic that mentions two others. */
const PAGE: Record<Language, (own: string, first: string, second: string) => string> = {
  zh: (own, first, second) =>
    `本页介绍${own}的基本概念。配置${own}以后，可以和${first}一起使用。如何传递数据？请参考${second}的说明，也可以在项目的设置文件中修改默认值。`,
  ja: (own, first, second) =>
    `このページでは${own}の基本を説明します。${own}を設定すると、${first}と一緒に使えます。詳しくは${second}の説明を参照してください。値は設定ファイルで変更できます。`,
  ko: (own, first, second) =>
    `이 문서에서는 ${own}의 기본 개념을 설명합니다. ${own}을 설정하면 ${first}와 함께 사용할 수 있습니다. 자세한 내용은 ${second}에 대한 설명을 참고하세요. 기본값은 설정 파일에서 변경합니다.`,
  th: (own, first, second) =>
    `หน้านี้อธิบายพื้นฐานของ${own} เมื่อตั้งค่า${own}แล้ว สามารถใช้ร่วมกับ${first}ได้ ดูคำอธิบายของ${second}เพิ่มเติม ค่าเริ่มต้นแก้ไขได้ในไฟล์`,
};

/** Ways to ask for a topic. */
const FRAMES: Record<Language, readonly string[]> = {
  zh: [
    ...["如何在项目中使用{}", "{}是什么意思，怎么用", "我想知道{}怎么配置"],
    ...[
      "怎么在我的网站中使用{}",
      "为什么{}在我这里不起作用",
      "如何在專案中使用{}",
      "為什麼{}在我這裡不起作用",
    ],
  ],
  ja: ["{}とは何ですか", "{}の使い方を教えてください", "{}はどうやって設定しますか"],
  ko: ["{}는 어떻게 사용하나요", "{}란 무엇인가요", "{}을 설정하는 방법을 알려주세요"],
  th: ["ฉันจะใช้{}ในเว็บไซต์ของฉันได้อย่างไร", "{}คืออะไร และใช้ทำอะไร", "ทำไม{}ถึงไม่ทำงาน"],
};

function handbookOf(language: Language): { topics: string[]; view: TextView } {
  const topics = TOPICS[language].split(/\s+/);
  const documents = topics.map((own, i) => {
    const [first, second] = [5, 11].map((step) => topics[(i + step) % topics.length] as string);
    const content = PAGE[language](own, first as string, second as string);
    return documentOf(`${i}.md`, { title: own, content });
  });
  return { topics, view: viewOf(documents) };
}

const placeOf = (view: TextView, query: string, path: string) =>
  pathsOf(searchText(view, query).hits).indexOf(path);

describe("questions in scripts without spaces", () => {
  for (const language of ["zh", "ja", "ko", "th"] as const) {
    const { topics, view } = handbookOf(language);

    test(`in ${language} find the page on their topic first, as the topic alone does`, () => {
      expect(topics.length).toBeGreaterThan(30);
      for (const frame of ["{}", ...FRAMES[language]]) {
        const places = topics.map((topic, i) =>
          placeOf(view, frame.replace("{}", topic), `${i}.md`),
        );
        expect([frame, places.filter((place) => place < 0)]).toEqual([frame, []]);
        const first = places.filter((place) => place === 0).length;
        expect([frame, first >= topics.length * 0.95]).toEqual([frame, true]);
      }
    });
  }

  test("traditional and simplified Chinese find each other, and so do hiragana and katakana", () => {
    for (const [content, ...queries] of [
      ["软件包的图像和数据库", "軟件包", "圖像", "數據庫", "软件包"],
      ["軟件包的圖像和數據庫", "软件包", "图像", "数据库", "軟件"],
      ["りんごとメガネのページ", "リンゴ", "めがね", "ぺーじ", "ﾒｶﾞﾈ"],
    ] as const) {
      const view = viewOf([
        documentOf("a.md", { content }),
        documentOf("b.md", { content: "etc" }),
      ]);
      for (const query of queries) {
        const { hits } = searchText(view, query);
        expect([query, pathsOf(hits)]).toEqual([query, ["a.md"]]);
        expect([query, hits[0]?.snippet?.matches.length]).not.toEqual([query, 0]);
      }
    }
  });

  test("a place in a question is what it is about if nothing else is", () => {
    const view = viewOf([
      documentOf("a.md", { content: "网站中的设置" }),
      documentOf("b.md", { content: "数据库" }),
    ]);
    expect(pathsOf(searchText(view, "在我的网站中").hits)[0]).toBe("a.md");
  });

  test("a page is found whose words are common among pages that hold a chance pair of the question", () => {
    const view = viewOf([
      documentOf("props.md", {
        title: "Props",
        content: "向组件传递 props 的方法。父组件可以把数据传递给子组件。",
      }),
      documentOf("chance.md", { title: "其他", content: "配件如何保养，硬件何时更换。" }),
      ...Array.from({ length: 17 }, (_, i) =>
        documentOf(`p${i}.md`, {
          title: `页面${i}`,
          content: "组件可以使用 props。如何传递数据？",
        }),
      ),
    ]);
    const found = pathsOf(searchText(view, "组件如何传递 props").hits);
    expect(found.slice(0, RANKS)).toContain("props.md");
    expect(found.indexOf("chance.md")).not.toBe(0);
  });

  test("a word of one character is found in a question", () => {
    const view = viewOf([
      documentOf("row.md", { title: "行", content: "表格由许多行组成。" }),
      documentOf("column.md", { title: "列", content: "表格由许多列组成。" }),
      documentOf("other.md", { title: "公式", content: "公式是什么？它计算数值。" }),
    ]);
    expect(placeOf(view, "行是什么", "row.md")).toBe(0);
    expect(placeOf(view, "什么是列？", "column.md")).toBe(0);
  });
});

test("a Korean noun is found with any particle, and by its beginning", () => {
  const contents = ["데이터베이스를 백업합니다.", "서버가 시작됩니다.", "화면을 새로 고칩니다."];
  const view = viewOf(contents.map((content, i) => documentOf(`${i}.md`, { content })));
  for (const query of ["데이터베이스", "데이터베이스는", "데이터베이스에서", "데이터베"]) {
    expect([query, placeOf(view, query, "0.md")]).toEqual([query, 0]);
  }
});
