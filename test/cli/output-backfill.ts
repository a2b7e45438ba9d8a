import t from 'tap'
import { type OutputBackfill, outputBackfill } from '../../src/cli/follow/output-backfill.ts'
import type { Client } from '../../src/client/client.ts'
import type { ReceivedEvent } from '../../src/client/session-stream.ts'
import type { SessionJson } from '../../src/http/schemas/session.ts'
import { AppError } from '../../src/model/app-error.ts'

const session = { id: 's', case_id: 'c', number: 1 } as SessionJson
const event = (type: string, payload: Record<string, unknown>): ReceivedEvent => ({
  type,
  id: '',
  time: '',
  payload,
})
const begins = event('step_started', { step: 'say' })
const ends = (output_bytes: number) => event('step_finished', { step: 'say', output_bytes })
const piece = (offset: number | null, text: string) =>
  event('session_output', { step: 'say', artifact: '1-say.log', offset, text })

/** A service whose artifact is what `file` says, which may refuse. */
function serving(file: () => string): Pick<Client, 'lastBytes'> & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async lastBytes(path, most) {
      asked.push(path)
      const bytes = Buffer.from(file())
      const from = Math.max(0, bytes.length - most)
      return bytes.length === 0 ? null : { from, bytes: bytes.subarray(from) }
    },
  }
}

/** All that is told of the output, the other events as their names. */
async function reported(
  client: Pick<Client, 'lastBytes'>,
  events: (output: OutputBackfill) => AsyncGenerator<ReceivedEvent>,
): Promise<string[]> {
  const output = outputBackfill(client as Client, session)
  const all: string[] = []
  for await (const { type, payload } of output.fill(events(output))) {
    const part = type === 'session_output' ? String(payload.text) : `<${type}>`
    if (type === 'session_output' && all.length > 0 && !all.at(-1)!.startsWith('<')) {
      all[all.length - 1] += part
    } else all.push(part)
  }
  return all
}

const around = (output: string[], end = '<step_finished>') => ['<step_started>', ...output, end]

t.test('the output of a step is told once', async (t) => {
  const cases: [how: string, file: string, events: ReceivedEvent[], output: string[]][] = [
    ['as it comes', '', [piece(0, 'ab\n'), piece(3, 'cd\n'), ends(6)], ['ab\ncd\n']],
    ['with what came before', 'ab\n', [piece(3, 'cd\n'), ends(6)], ['ab\ncd\n']],
    ['where the file has it already', 'ab\ncd\n', [piece(3, 'cd\n'), ends(6)], ['ab\ncd\n']],
    ['where it has a part of the piece', 'ab\nc', [piece(3, 'cd\n'), ends(6)], ['ab\ncd\n']],
    ['with what is missing between', 'ab\ncd\n', [piece(0, 'a'), piece(5, '\n')], ['ab\ncd\n']],
    ['with what was lost at its end', 'ab\ncd\n', [piece(0, 'ab\n'), ends(6)], ['ab\ncd\n']],
    ['with words that are in no file', '', [piece(0, 'a\n'), piece(null, 'w\n')], ['a\nw\n']],
    ['with bytes that are no text', 'a\ufffd\n', [piece(0, 'a\ufffd\n'), ends(5)], ['a\ufffd\n']],
  ]
  for (const [how, file, events, output] of cases) {
    t.test(how, async (t) => {
      const all = await reported(
        serving(() => file),
        async function* () {
          yield begins
          yield* events
          if (events.at(-1)?.type !== 'step_finished') yield ends(0)
        },
      )
      t.strictSame(all, around(output))
    })
  }
})

t.test('a replay of a step that is over asks for nothing', async (t) => {
  const client = serving(() => 'ab\n')
  const all = await reported(client, async function* () {
    yield begins
    yield ends(3)
  })
  t.strictSame(all, around([]))
  t.strictSame(client.asked, [])
})

t.test('a step that says nothing more is told as soon as no more events come', async (t) => {
  let asked = () => {}
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const client = serving(() => {
    asked()
    return 'ab\n'
  })
  const all = await reported(client, async function* () {
    yield begins
    await wasAsked
    yield piece(3, 'cd\n')
    yield ends(6)
  })
  t.strictSame(all, around(['ab\ncd\n']))
  t.strictSame(client.asked, ['/cases/c/sessions/s/artifacts/1-say.log'])
})

t.test('after a connection that broke, it is asked for again', async (t) => {
  let file = ''
  const all = await reported(
    serving(() => file),
    async function* (output) {
      yield begins
      yield piece(0, 'ab\n')
      file = 'ab\ncd\n'
      output.mayMiss()
      yield event('session_state_changed', { new_state: 'failed' })
    },
  )
  t.strictSame(all, around(['ab\ncd\n'], '<session_state_changed>'))
})

t.test('of much, only whole lines at its end, and where all of it is', async (t) => {
  const file = `${'a line\n'.repeat(20_000)}`
  const all = await reported(
    serving(() => file),
    async function* () {
      yield begins
      yield piece(file.length, 'the end\n')
      yield ends(file.length + 8)
    },
  )
  t.match(all[1], /^… 72\.7 KiB omitted; full output in artifacts\/1-say\.log\na line\n/)
  t.match(all[1], /\na line\nthe end\n$/)
})

t.test('a file that is not read is no end of it', async (t) => {
  const client = {
    async lastBytes(): Promise<null> {
      throw new AppError('unreadable_file', 'It is a link.')
    },
  }
  const all = await reported(client, async function* () {
    yield begins
    yield piece(3, 'cd\n')
    yield ends(6)
  })
  t.strictSame(all, around(['… It is a link.\ncd\n']))
})
