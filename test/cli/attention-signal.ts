import t from 'tap'
import { createAttentionSignal } from '../../src/cli/output/attention-signal.ts'
import { kept } from '../fixtures/kept-terminal.ts'

interface Case {
  env?: NodeJS.ProcessEnv
  bell?: boolean
  isTerminal?: boolean
}

function signalled(text: string, { env = {}, bell = false, isTerminal = true }: Case = {}) {
  const terminal = kept(0)
  createAttentionSignal({ ...terminal, isTerminal }, { env, bell })(text)
  return terminal.text()
}

t.test('a terminal gets OSC 9, with the bell on request', async (t) => {
  t.equal(signalled('Door: it waits'), '\u001b]9;Casefile: Door: it waits\u0007')
  t.equal(signalled('Door', { bell: true }), '\u001b]9;Casefile: Door\u0007\u0007')
  t.equal(signalled('Door', { env: { NO_COLOR: '', TERM: 'xterm' } }).length, 19)
})

t.test('a pipe gets nothing, a plain terminal only the bell', async (t) => {
  t.equal(signalled('Door', { isTerminal: false, bell: true }), '')
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
    t.equal(signalled('Door', { env }), '')
    t.equal(signalled('Door', { env, bell: true }), '\u0007')
  }
})

t.test('a title cannot end the sequence, hide text or fill the screen', async (t) => {
  const evil = 'a\u0007b\u001b]0;owned\u001b\\c\u009cd\u202ee\nf\u0000g'
  t.equal(signalled(evil), '\u001b]9;Casefile: a b ]0;owned \\c d e f g\u0007')
  const long = signalled('🙂'.repeat(500))
  t.equal([...long].length, '\u001b]9;'.length + 200 + 1)
  t.match(long, /🙂…\u0007$/)
})
