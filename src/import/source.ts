import { hash } from 'node:crypto'

/** Where an issue is on the web. */
export interface Source {
  /** As in `https://github.com/ada/shop/issues/12`. */
  url: string
  /** As in `ada/shop#12`, for people. */
  name: string
}

/** As gh takes it for `--repo`: an owner and a name, with a host if it is not github.com. */
export const REPOSITORY = /^(?:([\w.-]+(?::\d+)?)\/)?([\w.-]+)\/([\w.-]+)$/

/** The source that an issue names itself, or has by its number in `repository`; null where neither says it. */
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
 * The id of the case of a source: always the same, wherever and however often it is imported, so that two
 * imports, also in two clones that git merges later, make one case. GitHub takes any case of letters.
 */
export function caseIdOf({ url }: Source): string {
  const digits = [...hash('sha256', url.toLowerCase()).slice(0, 32)]
  digits[12] = '4' // the form of a UUID v4, as every id of a case has it
  digits[16] = '89ab'[Number.parseInt(digits[16]!, 16) % 4]!
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
