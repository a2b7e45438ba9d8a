import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import which from 'which'
import { approvalStatement } from '../../src/model/approval-statement.ts'
import { findSigningKey, signApproval, signerLine } from '../../src/signing/signing-key.ts'
import { git } from '../fixtures/git-repository.ts'

const agent = which.sync('ssh-agent', { nothrow: true })
const options = agent ? {} : { skip: 'no ssh-agent here' }

t.test('a key whose private half only ssh-agent has signs too', options, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'casefile-agent-')) // a socket's path must be short
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [key, socket] = [join(folder, 'key'), join(folder, 'agent')]
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ada', '-f', key])
  const running = spawn(agent!, ['-D', '-a', socket], { stdio: 'ignore' })
  const ended = once(running, 'exit')
  const { SSH_AUTH_SOCK } = process.env
  t.teardown(async () => {
    if (SSH_AUTH_SOCK === undefined) delete process.env.SSH_AUTH_SOCK
    else process.env.SSH_AUTH_SOCK = SSH_AUTH_SOCK
    running.kill()
    await ended
  })
  process.env.SSH_AUTH_SOCK = socket
  for (let tries = 0; !existsSync(socket) && tries < 500; tries++) await delay(10)
  execFileSync('ssh-add', ['-q', key], { stdio: 'ignore' })
  const text = readFileSync(`${key}.pub`, 'utf8').trim()
  rmSync(key)
  rmSync(`${key}.pub`)

  const root = join(folder, 'repository')
  git(folder, 'init', '--quiet', root)
  git(root, 'config', 'gpg.format', 'ssh')
  git(root, 'config', 'user.signingkey', `key::${text}`)
  git(root, 'config', 'user.email', 'ada@example.com')
  const found = await findSigningKey(root)
  t.strictSame(found, { is: 'public', text })
  const approval = {
    case_id: '3fa606c7-6854-4638-98bb-949d6990c766',
    session_id: 'a580aa2c-8108-40ce-ae94-edbf5f071e5b',
    plan_sha256: 'e'.repeat(64),
    signed_at: new Date().toISOString(),
  }
  const { ssh } = await signApproval(approval, found!, () => {})
  const [signers, signature] = [join(folder, 'signers'), join(folder, 'signature')]
  writeFileSync(signers, `${await signerLine(root, found!)}\n`)
  writeFileSync(signature, ssh)
  const words = ['-Y', 'verify', '-f', signers, '-I', 'ada@example.com', '-n', 'casefile']
  const said = execFileSync('ssh-keygen', [...words, '-s', signature], {
    input: approvalStatement(approval),
    encoding: 'utf8',
  })
  t.match(said, /^Good "casefile" signature for ada@example\.com/)
})
