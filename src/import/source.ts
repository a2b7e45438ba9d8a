import { hash } from 'node:crypto'

/** An issue's location on the web. */
export interface Source {
  /** For example `https://github.com/ada/shop/issues/12`. */
  url: string
  /** For example `ada/shop#12`. */
  name: string
}

/** The format of gh's `--repo`: owner and name, with a host if it is not github.com. */
export const REPOSITORY = /^(?:([\w.-]+(?::\d+)?)\/)?([\w.-]+)\/([\w.-]+)$/

/**
 * The source named in the issue itself, else built from its number and `repository`; null if neither has enough
 * information.
 */
export function sourceOf(
  { url, number }: { url?: string | null | undefined; number?: number | null | undefined },
  repository: string | undefined,
): Source | null {
  if (url) return URL.canParse(url) ? sourceAt(new URL(url)) : null
  const [, host = 'github.com', owner, name] = REPOSITORY.exec(repository ?? '') ?? []
  if (!number || owner === undefined) return null
  return sourceAt(new URL(`https://${host}/${owner}/${name}/issues/${number}`))
}

function sourceAt({ protocol, username, host, pathname }: URL): Source | null {
  const [, owner, name, number] = /^\/([^/]+)\/([^/]+)\/issues\/(\d+)\/?$/.exec(pathname) ?? []
  if (!/^https?:$/.test(protocol) || username !== '' || number === undefined) return null
  return {
    url: `${protocol}//${host}/${owner}/${name}/issues/${number}`,
    name: `${owner}/${name}#${number}`,
  }
}

/**
 * The case id for a source, derived from its URL. Repeated imports, even in two clones that git merges later, give
 * the same case. GitHub ignores case in names, so the URL is lowercased.
 */
export function caseIdForSource({ url }: Source): string {
  const digits = [...hash('sha256', url.toLowerCase()).slice(0, 32)]
  digits[12] = '4' // the form of a UUID v4, as every id of a case has it
  digits[16] = '89ab'[Number.parseInt(digits[16]!, 16) % 4]!
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
