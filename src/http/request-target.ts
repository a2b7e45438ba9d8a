import type { IncomingMessage } from 'node:http'

const ABSOLUTE = /^http:\/\/([^/?#]*)(.*)$/i

/**
 * Turns a request target in absolute form, as `GET http://127.0.0.1:7878/cases`, into its path. The authority in
 * it counts, whatever the Host header says (RFC 9112 §3.2.2): so the value of that header is replaced by it, and
 * the guard then refuses another host as it always does.
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
