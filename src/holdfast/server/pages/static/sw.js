// The service worker: what was read last can be read again while the server does not answer. It asks the server
// first, always, and keeps a copy of what comes. Whoever signs out, or is not signed in any more, leaves nothing.

const worker = /** @type {any} */ (globalThis);
const STATIC = "holdfast-static", PRIVATE = "holdfast-private";
// So many conversations are kept, the last read; and so many other answers.
const MOST_CHATS = 50, MOST_OTHERS = 100;

const isChat = (path) => path === "/" || /^\/c\/[^/]+$/.test(path);
const isList = (path) => /^\/api\/chats(\/(folders|projects))?$/.test(path);
const isMessages = (path) => /^\/api\/chats\/[^/]+\/messages$/.test(path);

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener("fetch", (event) => {
  const { request } = event, { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== worker.location.origin) return;
  if (pathname.startsWith("/static/")) event.respondWith(answerStatic(request));
  else if (request.mode === "navigate") event.respondWith(answerPage(request, pathname));
  else if (isList(pathname) || isMessages(pathname)) event.respondWith(answerPrivate(request));
});

/** Files under an address with their version never change. */
async function answerStatic(request) {
  const cache = await caches.open(STATIC), known = await cache.match(request);
  if (known) return known;
  const response = await fetch(request);
  if (response.ok) await keepStatic(cache, request, response.clone());
  return response;
}

/** Files of another version go: nothing asks for them any more. */
async function keepStatic(cache, request, response) {
  const version = (address) => new URL(address).pathname.split("/")[2];
  for (const other of await cache.keys()) {
    if (version(other.url) !== version(request.url)) await cache.delete(other);
  }
  await cache.put(request, response);
}

/** A page as the server has it; without the server the copy of a chat, or of the empty one. */
async function answerPage(request, path) {
  let response;
  try {
    response = await fetch(request);
  } catch (error) {
    const cache = await caches.open(PRIVATE);
    const copy = isChat(path) ? (await cache.match(path)) ?? (await cache.match("/")) : undefined;
    if (copy) return copy;
    throw error;
  }
  // A redirection to the login is seen as one here; what was kept was for somebody who is not here any more.
  if (response.type === "opaqueredirect" || response.status === 401) await caches.delete(PRIVATE);
  else if (response.ok && isChat(path)) await keep(path, response.clone(), isChat, MOST_CHATS);
  return response;
}

/** Lists and messages are kept apart by whose they are: private or of a group. */
async function answerPrivate(request) {
  const kind = request.headers.get("x-holdfast-kind") ?? "", address = new URL(request.url);
  address.searchParams.set("kept-kind", kind);
  const key = address.pathname + address.search;
  let response;
  try {
    response = await fetch(request);
  } catch (error) {
    const copy = await (await caches.open(PRIVATE)).match(key);
    if (copy) return copy;
    throw error;
  }
  if (response.status === 401) await caches.delete(PRIVATE);
  else if (response.ok) {
    await keep(key, response.clone(), (path) => isList(path) || isMessages(path), MOST_OTHERS);
  }
  return response;
}

/** Keeps a copy as the newest; of its like the oldest go when there are too many. */
async function keep(key, response, isAlike, most) {
  const cache = await caches.open(PRIVATE);
  await cache.delete(key);
  await cache.put(key, response);
  const alike = (await cache.keys()).filter(({ url }) => isAlike(new URL(url).pathname));
  for (const old of alike.slice(0, Math.max(0, alike.length - most))) await cache.delete(old);
}
