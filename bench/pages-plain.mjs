import { createServer } from 'node:http'

/**
 * Serves words on a page that has nothing else: what any page that says so much needs at least.
 * @param {string} words
 */
export async function servePlain(words) {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const html = `<!doctype html><html lang="en"><title>Words</title><link rel="icon" href="data:,"><pre>${escaped}</pre>`
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}/`,
    bytes: Buffer.byteLength(html),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
