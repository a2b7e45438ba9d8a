import { get } from 'node:http'

/**
 * The body of an answer, as text; on a connection of its own.
 * @param {string} url
 * @returns {Promise<string>}
 */
export function getBody(url) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      /** @type {Buffer[]} */
      const parts = []
      response.on('data', (part) => parts.push(part))
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`GET ${url} is answered ${response.statusCode}: ${text}`))
      })
    })
    request.on('error', reject)
  })
}
