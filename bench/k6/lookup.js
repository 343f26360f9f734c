/**
 * Knowledge lookups at a constant rate of arrival: words, and then the next page of the same query.
 *
 *   k6 run -e BASE_URL=http://127.0.0.1:3000 -e PROJECT=handbook -e KEY=tsr_... \
 *          -e QUERIES='rollback a relese,index snapshots' -e RATE=100 bench/k6/lookup.js
 */
import { check } from "k6";
import http from "k6/http";
import { constantRate, headers, setting, thresholds } from "./settings.js";

const url = `${setting("BASE_URL")}/projects/${setting("PROJECT")}/knowledge/lookup`;
const queries = setting("QUERIES").split(",");

export const options = {
  scenarios: { lookup: constantRate() },
  thresholds: thresholds(),
};

/** @param {object} body */
function lookUp(body) {
  const response = http.post(url, JSON.stringify(body), { headers });
  check(response, {
    "status is 200": ({ status }) => status === 200,
    "has results": (each) => each.status === 200 && Array.isArray(each.json("data")),
  });
  return response;
}

export default function lookup() {
  const query = queries[Math.floor(Math.random() * queries.length)];
  const response = lookUp({ query, limit: 5 });
  const cursor = response.status === 200 ? response.json("page_info.next") : null;
  if (cursor) lookUp({ query, limit: 5, cursor });
}
