import { Agent, request } from 'node:http'

/** Asks a service in JSON, on connections that it keeps. @param {string} url */
export function openClient(url) {
  const agent = new Agent({ keepAlive: true })
  return {
    /**
     * @param {string} method
     * @param {string} path
     * @param {unknown} [body]
     * @returns {Promise<any>}
     */
    ask(method, path, body) {
      return new Promise((resolve, reject) => {
        const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
        const headers = { 'content-type': 'application/json', 'content-length': bytes.length }
        const asking = request(`${url}${path}`, { method, agent, headers }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk) => {
            text += chunk
          })
          response.on('error', reject)
          response.on('end', () => {
            if (Number(response.statusCode) < 300) resolve(JSON.parse(text || 'null'))
            else reject(new Error(`${method} ${path} is answered ${response.statusCode}: ${text}`))
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
