import { listenTo } from './event-lines.mjs'

/** @import { Client } from './client.mjs' */

/**
 * Sessions of the runbook, made, approved and run to their end by requests.
 * @param {string} url
 * @param {Client} client
 */
export async function openRuns(url, client) {
  /** @type {Map<string, (at: number) => void>} */
  const awaited = new Map()
  const stream = await listenTo(
    `${url}/events?after=now&output=no`,
    ({ event_type, payload }, at) => {
      const state = event_type === 'session_completed' ? 'completed' : payload?.new_state
      awaited.get(`${payload?.session_id} ${state}`)?.(at)
      if (state === 'failed') throw new Error(`a session failed: ${JSON.stringify(payload)}`)
    },
  )
  /** @type {(session: string, state: string) => Promise<number>} */
  const until = (session, state) =>
    new Promise((resolve) => awaited.set(`${session} ${state}`, resolve))

  return {
    /**
     * Makes a case with these steps and a session that has planned them.
     * @param {readonly string[]} steps
     */
    async prepare(steps) {
      const fences = steps.map((step) => `\`\`\`sh run\n${step}\n\`\`\`\n`)
      const body = { title: 'Run something', description: `It runs.\n\n${fences.join('\n')}` }
      const { json: made } = await client.ask('POST', '/cases', body)
      const path = `/cases/${made.id}/sessions`
      const { json: session } = await client.ask('POST', path, { type: 'verifying' })
      let { state } = session
      while (state === 'created' || state === 'planning') {
        state = (await client.ask('GET', `${path}/${session.id}`)).json.state
      }
      if (state !== 'plan_ready') throw new Error(`the plan of ${session.id} is ${state}`)
      return { path: `${path}/${session.id}`, id: String(session.id) }
    },
    /**
     * Milliseconds from the request that approves it to the event that it is complete.
     * @param {{ path: string, id: string }} session
     */
    async run({ path, id }) {
      const completed = until(id, 'completed')
      const { sent } = await client.ask('POST', `${path}/approve`)
      return (await completed) - sent
    },
    close: () => stream.close(),
  }
}

/** @typedef {Awaited<ReturnType<typeof openRuns>>} Runs */
