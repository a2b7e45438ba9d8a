import { isMemoryName } from '../../model/memory-name.ts'
import { SESSION_FILE } from '../../model/words.ts'

/** `external`: it leads to another site, or to a mail program. */
export interface LinkTarget {
  href: string
  kind: 'external' | 'mail' | 'inside'
}

export interface LinkPlace {
  base?: string
  idPrefix: string
}

/** Pure. Where a link of a text leads, rewritten so that every browser reads it so; null: nowhere. */
export function linkTarget(href: string, { base, idPrefix }: LinkPlace): LinkTarget | null {
  if (href.startsWith('#')) return { href: `#${idPrefix}${href.slice(1)}`, kind: 'inside' }
  if (URL.canParse(href)) {
    const url = new URL(href)
    if (url.protocol === 'mailto:') return { href: url.href, kind: 'mail' }
    return isWeb(url) ? { href: url.href, kind: 'external' } : null
  }
  const [, folder, name, fragment] = /^(?:\.\/)?(sessions\/)?([^#?/]+)(#.*)?$/.exec(href) ?? []
  const file = decoded(name ?? '')
  if (base === undefined || !(folder ? SESSION_FILE.test(file) : isMemoryName(file))) return null
  const inside = fragment ? `#${idPrefix}${fragment.slice(1)}` : ''
  return { href: base + encodeURIComponent(file) + inside, kind: 'inside' }
}

/** As the name of a file; what is not well encoded is the name as it stands. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch (error) {
    if (error instanceof URIError) return name
    throw error
  }
}

/** Pure. The address of an image, which is linked and never loaded; null if it has none on the web. */
export function imageTarget(src: string): string | null {
  return URL.canParse(src) && isWeb(new URL(src)) ? new URL(src).href : null
}

function isWeb(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:'
}
/** Pure. What a heading is called in an address, much as on GitHub: `Why, and how?` is `why-and-how`. */
export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  return slug.slice(0, 100)
}
