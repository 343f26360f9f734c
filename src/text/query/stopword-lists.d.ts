/** Lists of the package by themselves: all of them take each thread that imports them 50 ms. */
declare module "stopword/src/stopwords_tha.js" {
  export { tha } from "stopword";
}
declare module "stopword/src/stopwords_zho.js" {
  export { zho } from "stopword";
}
