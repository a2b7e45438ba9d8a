import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { readRegular } from '../files/safe-read.ts'
import { serviceProgram } from '../files/service-program.ts'
import { runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import {
  type Approval,
  approvalStatement,
  SIGNATURE_NAMESPACE,
} from '../model/approval-statement.ts'
import type { SentSignature } from './approval-signature.ts'

/** The operator's SSH key: a file (private, or public if an agent has the private one), or a public key in git's settings. */
export type SigningKey = { is: 'file'; path: string } | { is: 'public'; text: string }

/** The names that ssh uses, best first. */
const DEFAULT_KEYS = ['id_ed25519', 'id_ed25519_sk', 'id_ecdsa', 'id_ecdsa_sk', 'id_rsa']

/** The key that git signs commits with, if it does so with SSH; else the first default key. Null without one. */
export async function findSigningKey(root: string): Promise<SigningKey | null> {
  if ((await gitSetting(root, 'gpg.format')) === 'ssh') {
    const key = await gitSetting(root, 'user.signingkey')
    const text = /^(?:key::)?((?:ssh|sk-ssh|ecdsa|sk-ecdsa)-\S+ .*)/.exec(key)?.[1]
    if (text !== undefined) return { is: 'public', text }
    if (key !== '') return { is: 'file', path: keyPath(root, key) }
  }
  for (const name of DEFAULT_KEYS) {
    const path = join(homedir(), '.ssh', name)
    if (await isReadable(`${path}.pub`)) return { is: 'file', path }
  }
  return null
}

/** A path as a person types it or writes it into git's settings. */
export function keyPath(root: string, path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(root, path)
}

/** The line of `allowed_signers` that lets this key approve; null if its public half cannot be read. */
export async function signerLine(root: string, key: SigningKey): Promise<string | null> {
  const text = key.is === 'public' ? key.text : await publicText(key.path)
  const [type, base64] = text?.trim().split(/\s+/) ?? []
  if (!type || !base64) return null
  const email = (await gitSetting(root, 'user.email')).replace(/[\s,*?!"]/g, '')
  return `${email || 'operator'} namespaces="${SIGNATURE_NAMESPACE}" ${type} ${base64}`
}

/** How the operator would recognize their key. */
export function keyName(key: SigningKey): string {
  return key.is === 'file' ? key.path : "git's user.signingkey"
}

/** The line of `allowed_signers` for the operator's key. Throws without one, as no approval would be possible. */
export async function ownSignerLine(root: string): Promise<string> {
  const key = await findSigningKey(root)
  const line = key && (await signerLine(root, key))
  if (line) return line
  throw new AppError(
    'bad_request',
    'There is no SSH key to sign with, or its .pub file cannot be read. Make one with ssh-keygen, or set gpg.format and user.signingkey in git.',
  )
}

/**
 * Signs an approval with `ssh-keygen`, which may ask for a passphrase on the terminal or for a touch of the key.
 * `say` gets what it prints meanwhile. Throws `bad_request` if nothing was signed.
 */
export async function signApproval(
  approval: Approval,
  key: SigningKey,
  say: (line: string) => void,
): Promise<SentSignature> {
  const folder = await mkdtemp(join(tmpdir(), 'casefile-signing-'))
  try {
    const statement = join(folder, 'approval')
    await writeFile(statement, approvalStatement(approval))
    const path = key.is === 'file' ? key.path : join(folder, 'key.pub')
    if (key.is === 'public') await writeFile(path, `${key.text}\n`)
    const exit = await run(['-Y', 'sign', '-n', SIGNATURE_NAMESPACE, '-f', path, statement], say)
    if (exit !== 0) {
      throw new AppError(
        'bad_request',
        `ssh-keygen could not sign with ${key.is === 'file' ? key.path : 'the key of git (user.signingkey)'}, so the plan was not approved. It said why above; --key <file> uses another key.`,
      )
    }
    return { signed_at: approval.signed_at, ssh: await readFile(`${statement}.sig`, 'utf8') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function run(args: string[], say: (line: string) => void): Promise<number | null> {
  return new Promise<number | null>((done, reject) => {
    const stdio: ['inherit', 'ignore', 'pipe'] = ['inherit', 'ignore', 'pipe']
    const child = spawn(serviceProgram('ssh-keygen'), args, { stdio })
    let rest = ''
    child.stderr.on('data', (part: Buffer) => {
      const lines = (rest + part).split('\n')
      rest = lines.pop()!
      for (const line of lines) if (!/^(?:Signing file|Write signature to) /.test(line)) say(line)
    })
    child.on('error', reject)
    child.on('close', (exit) => {
      if (rest.trim() !== '') say(rest)
      done(exit)
    })
  }).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new AppError(
      'bad_request',
      'Signing needs ssh-keygen, which was not found. Install OpenSSH.',
    )
  })
}

async function gitSetting(cwd: string, name: string): Promise<string> {
  try {
    const { exit, stdout } = await runGit(['config', '--get', name], { cwd, timeoutMs: 5000 })
    return exit === 0 ? stdout.toString().trim() : ''
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '' // git is not installed
    throw error
  }
}

async function publicText(path: string): Promise<string | null> {
  const read = await readRegular(path.endsWith('.pub') ? path : `${path}.pub`, { maxBytes: 16_384 })
  return read.ok ? read.bytes.toString() : null
}

async function isReadable(path: string): Promise<boolean> {
  return (await readRegular(path, { maxBytes: 16_384 })).ok
}
