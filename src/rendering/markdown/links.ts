import { isMemoryName } from '../../model/memory-name.ts'
import { SESSION_FILE } from '../../model/name-patterns.ts'

/** `external`: the link leads to another site. `mail`: it opens a mail program. */
export interface LinkTarget {
  href: string
  kind: 'external' | 'mail' | 'inside'
}

export interface LinkContext {
  base?: string
  addresses?: Readonly<Record<string, string>>
  idPrefix: string
}

/**
 * Pure. The target of a link, normalized so that every browser reads it the same way; null if the link must not lead
 * anywhere.
 */
export function linkTarget(href: string, place: LinkContext): LinkTarget | null {
  const { base, addresses = {}, idPrefix } = place
  if (href.startsWith('#')) return { href: `#${idPrefix}${href.slice(1)}`, kind: 'inside' }
  const [path = '', anchor] = href.split('#', 2)
  if (Object.hasOwn(addresses, path))
    return { href: addresses[path] + (anchor ? `#${idPrefix}${anchor}` : ''), kind: 'inside' }
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

/** Decodes a file name; an invalid escape leaves it unchanged. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch (error) {
    if (error instanceof URIError) return name
    throw error
  }
}

/** Pure. The web address of an image, which is linked and never loaded; null if it has none. */
export function imageTarget(src: string): string | null {
  return URL.canParse(src) && isWeb(new URL(src)) ? new URL(src).href : null
}

function isWeb(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:'
}
/** Pure. The anchor of a heading, much as on GitHub: `Why, and how?` gives `why-and-how`. */
export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  return slug.slice(0, 100)
}
