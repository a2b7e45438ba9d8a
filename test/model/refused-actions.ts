import t from 'tap'
import { foldRefused } from '../../src/model/refused-actions.ts'

t.test('equal denials are one, with their number', async (t) => {
  const of = (tool: string, reason = 'no') => ({ tool, action: 'x', reason })
  t.strictSame(foldRefused([of('Bash'), of('Write'), of('Bash'), of('Bash', 'never')]), [
    { action: of('Bash'), times: 2 },
    { action: of('Write'), times: 1 },
    { action: of('Bash', 'never'), times: 1 },
  ])
})
