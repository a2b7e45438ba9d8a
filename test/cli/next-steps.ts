import { execFileSync } from 'node:child_process'
import t from 'tap'
import { cliHere } from '../fixtures/cli-here.ts'

t.test('after verifying stands what is missing, or that the case can be resolved', async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Door')
  await cli.run('item', 'door', 'Fast', '--type', 'benchmark', '--required')
  const add = (type: string) => ['proof', 'add', 'door', '--text', 'ok', '--type', type]
  await cli.run(...add('log'))
  t.match(await cli.run('proof', 'verify', 'door'), {
    code: 0,
    stderr:
      /^Still missing before the case can be resolved:\n {2}a verified proof of type benchmark for "Fast"\nNo candidate would meet "Fast"\. Attach a proof of type benchmark, or accept a proof with a reason\.\nNext: casefile proof add [0-9a-f]{8} <file> --type benchmark\n$/,
  })
  await cli.run(...add('benchmark'))
  await cli.run(...add('trace'))
  t.match(await cli.run('proof', 'verify', 'door'), {
    code: 2,
    stderr:
      /several proofs that are not verified: [0-9a-f]{8} \(trace\), [0-9a-f]{8} \(benchmark\)/,
  })
  t.match(await cli.run('proof', 'verify', 'door', '--all'), {
    stderr: /^Proof requirements are met\. Next: casefile resolve [0-9a-f]{8}\n$/,
  })
})

t.test('a case that is resolved again says what changed', async (t) => {
  const cli = cliHere(t)
  await cli.run('new', 'Door')
  await cli.run('proof', 'add', 'door', '--text', 'ok', '--verify')
  const resolve = (outcome: string) => cli.run('resolve', 'door', '--outcome', outcome)
  t.match(await resolve('ConfirmedCodeBug'), { code: 0, stdout: /RESOLVED/, stderr: '' })
  t.match(await resolve('ConfirmedCodeBug'), { code: 0, stderr: 'nothing changed\n' })
  t.match(await resolve('Duplicate'), { stderr: 'outcome: ConfirmedCodeBug → Duplicate\n' })
  t.match(await cli.run('state', 'door', 'open', '--reason', 'x'), { stdout: /OPEN/, stderr: '' })
})

t.test('a resolved case is to be committed where git keeps it', async (t) => {
  const cli = cliHere(t)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: cli.root, stdio: 'pipe' })
  git('init', '--quiet')
  const made = async (title: string) => {
    const { json } = await cli.run('new', title, '--json')
    await cli.run('proof', 'add', json.id, '--text', 'ok', '--verify')
    return String(json.id)
  }
  const id = await made('Door')
  t.match(await cli.run('resolve', 'door'), {
    stderr: `The record is not committed yet. Next: git add memory/cases/${id} && git commit -m "Resolve case ${id.slice(0, 8)}"\n`,
  })
  git('init', '--quiet', 'memory')
  const other = await made('Window')
  const { stderr } = await cli.run('resolve', 'window')
  t.match(stderr, `git -C memory add cases/${other} && git -C memory commit`)
})
