import type { Batch } from "./batch.ts";
import {
  putBranches,
  putConversations,
  putInputRequests,
  putMessages,
  putWebhooks,
} from "./collaboration.ts";
import { FileBatch, putEnvironments } from "./content.ts";
import { putApiKeys, putProjects, putUsers } from "./identity.ts";

/**
 * Writes the records of a batch kind by kind, in an order in which each finds the rows that it refers to. All
 * transactions take their locks in this order, and within a kind in that of the rows' keys.
 */
export async function writeBatch(batch: Batch): Promise<Batch> {
  await batch.loadReferences();
  await putUsers(batch);
  await putProjects(batch);
  await putApiKeys(batch);
  await putEnvironments(batch);
  await new FileBatch(batch).put();
  await putBranches(batch);
  await putConversations(batch);
  await putMessages(batch);
  await putInputRequests(batch);
  await putWebhooks(batch);
  return batch;
}
