import t from 'tap'
import { createBus } from '../../src/events/bus.ts'
import type { SessionOutput } from '../../src/events/envelope.ts'
import { trackLiveOutput } from '../../src/web/session/live-output.ts'

function heard() {
  const outputs = createBus<SessionOutput>((error) => {
    throw error
  })
  const liveOutput = trackLiveOutput(outputs)
  const of = { case_id: 'a', session_id: 'b', step: 'test', artifact: '1-test.log', time: '' }
  return {
    say: (stream: 'stdout' | 'stderr', offset: number | null, text: string) =>
      outputs.publish({ ...of, stream, offset, text }),
    now: () => liveOutput('a', '1-test.log'),
    other: () => liveOutput('a', '2-test.log'),
  }
}

t.test('it is remembered which bytes came from standard error', async (t) => {
  const { say, now, other } = heard()
  say('stdout', 0, 'one\n')
  say('stderr', 4, 'é\n')
  say('stderr', 7, 'more\n')
  say('stdout', 12, 'two\n')
  say('stderr', 16, 'three\n')
  t.strictSame(now().stderr, [
    { from: 4, to: 12 },
    { from: 16, to: 22 },
  ])
  t.strictSame(other(), { stderr: [], isSilent: false, open: null })
})

t.test('where a text with U+FFFD ends, the next piece tells', async (t) => {
  const { say, now } = heard()
  say('stderr', 10, '\ufffd\ufffdx') // the bytes ff, and ef bf bd, and x
  t.strictSame(now().stderr, [{ from: 10, to: 13 }], 'so many there are at least')
  say('stdout', 15, 'the next')
  t.strictSame(now().stderr, [{ from: 10, to: 15 }])
  say('stdout', 23, 'one more')
  t.strictSame(now().stderr, [{ from: 10, to: 15 }])
})

t.test('that no more is told is remembered too', async (t) => {
  const { say, now, other } = heard()
  say('stderr', 0, 'much\n')
  t.equal(now().isSilent, false)
  say('stdout', null, '[live output stops here]\n')
  t.match(now(), { isSilent: true, stderr: [{ from: 0, to: 5 }] })
  t.equal(other().isSilent, false)
})
