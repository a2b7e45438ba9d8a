import type { IncomingMessage } from 'node:http'

const ABSOLUTE = /^http:\/\/([^/?#]*)([/?#].*)?$/i

/**
 * Turns a request target in absolute form, such as `GET http://127.0.0.1:7878/cases`, into its path. Its authority
 * overrides the Host header (RFC 9112 §3.2.2), so it replaces the header, and the origin check sees it there.
 */
export function resolveTarget(incoming: IncomingMessage): void {
  const match = ABSOLUTE.exec(incoming.url ?? '')
  if (match === null) return
  const [, authority = '', rest = ''] = match
  incoming.url = rest.startsWith('/') ? rest : `/${rest}`
  incoming.headers.host = authority
  const { rawHeaders } = incoming
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() === 'host') rawHeaders[index + 1] = authority
  }
}
