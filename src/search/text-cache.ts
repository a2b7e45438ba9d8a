/** Texts of cases, as long as there is room for them. */
export interface TextCache {
  get(id: string): string | undefined
  put(id: string, text: string): void
  remove(id: string): void
}

/** In characters: of ten thousand cases as people write them it takes half. */
const ROOM = 64 * 1024 * 1024

/** Where there is no room left it begins anew. */
export function createTextCache(room = ROOM): TextCache {
  const texts = new Map<string, string>()
  let size = 0

  function remove(id: string): void {
    size -= texts.get(id)?.length ?? 0
    texts.delete(id)
  }

  return {
    get: (id) => texts.get(id),
    put(id, text) {
      remove(id)
      if (size + text.length > room) {
        texts.clear()
        size = 0
      }
      texts.set(id, text)
      size += text.length
    },
    remove,
  }
}
