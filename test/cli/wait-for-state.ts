import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createWaitForState, type WaitForStateDeps } from '../../src/cli/follow/wait-for-state.ts'
import { sessionStream } from '../../src/client/session-stream.ts'
import { SESSION_STATES } from '../../src/model/session-state.ts'

const PLANNED = SESSION_STATES.filter((state) => state !== 'created' && state !== 'planning')
const silent = { until: PLANNED, isPrinting: false }
const telling = { until: ['plan_ready'], isPrinting: true }
const toTheEnd = { isPrinting: true }

/** A word is an event: a state that is told, or any other type. */
const event = (word: string) => {
  const isState = (SESSION_STATES as readonly string[]).includes(word)
  const type = isState ? 'session_state_changed' : word
  return { type, id: '', time: '', payload: isState ? { new_state: word } : {} }
}

/** Where each event is told what a read then gives: `-` for an event that must not lead to a read. */
const runs: {
  name: string
  needs: Omit<WaitForStateDeps<never>, 'read'>
  /** `event state`, one behind the other. */
  steps: string
  arrives: boolean
}[] = [
  {
    name: 'a session that is there when the stream opens is not waited for',
    needs: silent,
    steps: 'open plan_ready',
    arrives: true,
  },
  {
    name: 'the state that is told is read',
    needs: silent,
    steps: 'open created, context_loaded -, planning -, plan_written -, plan_ready plan_ready',
    arrives: true,
  },
  {
    name: 'a plan that was approved at once was ready all the same',
    needs: silent,
    steps: 'open planning, plan_ready executing',
    arrives: true,
  },
  ...['plan_edited', 'ping', 'open'].map((next) => ({
    name: `what is told but cannot be read yet is read again: at ${next}`,
    needs: silent,
    steps: `open planning, plan_ready planning, ${next} plan_ready`,
    arrives: true,
  })),
  {
    name: 'what nobody told is seen at a ping',
    needs: silent,
    steps: 'open planning, ping planning, ping plan_ready',
    arrives: true,
  },
  {
    name: 'a state of a replay that is over is not waited for further',
    needs: silent,
    steps: 'open planning, plan_ready planning, planning -, context_loaded -, plan_written -',
    arrives: false,
  },
  {
    name: 'who tells tells what led there first',
    needs: telling,
    steps:
      'open -, planning -, plan_written -, ping plan_ready, hypothesis_written -, plan_ready plan_ready',
    arrives: true,
  },
  {
    name: 'and waits no longer than to the next ping for what does not come',
    needs: telling,
    steps: 'open -, ping planning, ping plan_ready, ping plan_ready',
    arrives: true,
  },
  {
    name: 'a stream that ought to have ended is left after two pings',
    needs: toTheEnd,
    steps:
      'open -, executing -, complete -, ping complete, session_completed -, ping complete, ping complete',
    arrives: true,
  },
]

for (const { name, needs, steps, arrives } of runs) {
  t.test(name, async (t) => {
    let state = '-'
    let wasRead = false
    const arrived = createWaitForState({
      ...needs,
      async read() {
        wasRead = true
        return { state }
      },
    })
    const all = steps.split(', ').map((step) => step.split(' ') as [string, string])
    for (const [index, [word, read]] of all.entries()) {
      state = read
      wasRead = false
      const present = await arrived(event(word))
      t.equal(wasRead, read !== '-', `${word}: ${read}`)
      const isLast = index === all.length - 1
      t.strictSame(present, isLast && arrives ? { state: read } : null, word)
    }
  })
}

t.test('a stream gives its pauses to who asks for them, and to nobody else', async (t) => {
  const said = (type: string, id: string) =>
    `event: ${type}\nid: ${id}\ndata: {"timestamp":"","payload":{}}\n\n`
  const connections = [said('plan_written', '1') + said('ping', ''), said('plan_ready', '2'), null]
  for (const pauses of [true, false]) {
    const left = [...connections]
    const server = createServer((_, response) => {
      const text = left.shift() ?? null
      response.statusCode = text === null ? 204 : 200
      response.end(text ?? '')
    }).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { signal } = new AbortController()
    const types: string[] = []
    for await (const { type } of sessionStream('/stream', { url }, signal, { pauses })) {
      types.push(type)
    }
    const all = ['open', 'plan_written', 'ping', 'open', 'plan_ready']
    t.strictSame(types, pauses ? all : ['plan_written', 'plan_ready'])
  }
})
