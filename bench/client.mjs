import { Agent, request } from 'node:http'

/**
 * Asks a service on connections that it keeps, and says when the request began and when the answer
 * was there to its end.
 * @param {string} url
 */
export function openClient(url) {
  const agent = new Agent({ keepAlive: true })
  return {
    /**
     * @param {string} method
     * @param {string} path
     * @param {unknown} [body]
     * @returns {Promise<{ json: any, sent: number, answered: number }>}
     */
    ask(method, path, body) {
      return new Promise((resolve, reject) => {
        const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
        const headers = { 'content-type': 'application/json', 'content-length': bytes.length }
        const sent = performance.now()
        const asking = request(`${url}${path}`, { method, agent, headers }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () => {
            const answered = performance.now()
            if (Number(response.statusCode) < 300) {
              resolve({ json: JSON.parse(text || 'null'), sent, answered })
            } else reject(new Error(`${method} ${path} is refused: ${text}`))
          })
        })
        asking.on('error', reject)
        asking.end(bytes)
      })
    },
    close: () => agent.destroy(),
  }
}

/** @typedef {ReturnType<typeof openClient>} Client */
