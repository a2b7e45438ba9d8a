import { once } from 'node:events'
import { get } from 'node:http'

/**
 * Listens to a stream of server-sent events and calls back for each line of data, with the time at
 * which it came.
 * @param {string} url
 * @param {(event: any, at: number) => void} onEvent
 */
export async function listenTo(url, onEvent) {
  const request = get(url, { agent: false, headers: { accept: 'text/event-stream' } })
  const [response] = /** @type {[import('node:http').IncomingMessage]} */ (
    await once(request, 'response')
  )
  let rest = ''
  response.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
    const at = performance.now()
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) onEvent(JSON.parse(line.slice(5)), at)
    }
  })
  let isClosed = false
  for (const side of [request, response]) {
    side.on('error', (error) => {
      if (!isClosed) throw error
    })
  }
  return {
    close() {
      isClosed = true
      request.destroy()
    },
  }
}
