// What was written and not sent, for each chat of this tab: its text, why it was not sent, and its files.
// Texts are in the tab's own storage; files are too large for it and are in a database of the browser.
import { openFiles } from "./core.js";
import { readStored, store } from "./chat-state.js";

// Milliseconds after which files of a tab that never came back are removed.
const longest = 7 * 24 * 3600 * 1000;
const tab = readStored("tab", true) || Math.random().toString(36).slice(2);
store("tab", tab, true);

/**
 * @typedef {{ text: string, links: boolean, models?: boolean }} Trouble
 * @typedef {{ text: string, trouble: Trouble | null }} Draft
 */

/** @returns {Draft} */
export function readDraft(chat) {
  try {
    return { text: "", trouble: null, ...JSON.parse(readStored(`draft_${chat}`, true) || "{}") };
  } catch {
    return { text: "", trouble: null };
  }
}

/** @param {Draft} draft */
export function saveDraft(chat, draft) {
  store(`draft_${chat}`, draft.text || draft.trouble ? JSON.stringify(draft) : "", true);
}

/** Runs `work` on the database; where the browser has none, returns undefined. */
async function withFiles(mode, work) {
  const database = await openFiles().catch(() => null);
  if (!database) return undefined;
  return await new Promise((resolve) => {
    const transaction = database.transaction("drafts", mode);
    const request = work(transaction.objectStore("drafts"));
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onerror = transaction.onabort = () => resolve(undefined);
  }).finally(() => database.close());
}

export async function readFiles(chat) {
  return (await withFiles("readonly", (files) => files.get(`${tab}:${chat}`)))?.uploads ?? [];
}

export function saveFiles(chat, uploads) {
  const name = `${tab}:${chat}`;
  return withFiles(
    "readwrite",
    (files) => (uploads.length ? files.put({ uploads, at: Date.now() }, name) : files.delete(name)),
  );
}

/** Removes what other tabs left behind long ago. */
export function removeOldFiles() {
  return withFiles("readwrite", (files) => {
    const cursor = files.openCursor();
    cursor.onsuccess = () => {
      if (!cursor.result) return;
      if (Date.now() - cursor.result.value.at > longest) cursor.result.delete();
      cursor.result.continue();
    };
  });
}
