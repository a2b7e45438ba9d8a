/**
 * Of a request that the guard lets in beyond doubt, the headers of these names, each of which may come once; null
 * for every other request, and for one with any of `asksMore`, whatever the guard thinks of it.
 */
export function plainHeaders(
  rawHeaders: readonly string[],
  port: number,
  names: readonly string[],
  asksMore: ReadonlySet<string>,
): Record<string, string> | null {
  const found: Record<string, string> = {}
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    const value = rawHeaders[index + 1]!
    if (name === 'host' || names.includes(name)) {
      if (found[name] !== undefined) return null
      found[name] = value
    } else if (name === 'sec-fetch-site') {
      if (value !== 'same-origin' && value !== 'none') return null
    } else if (asksMore.has(name)) return null
  }
  const { host } = found
  return host === `127.0.0.1:${port}` || host === `localhost:${port}` ? found : null
}
