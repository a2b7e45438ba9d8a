import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CLI } from '../fixtures/cli.ts'
import { type CliHere, cliHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'

/** A workspace with two cases, and a program `casefile` on the PATH. */
async function scene(t: Test): Promise<{ cli: CliHere; env: NodeJS.ProcessEnv }> {
  const cli = cliHere(t)
  await cli.run('new', 'Sign-in fails')
  await cli.run('new', 'Red door')
  const bin = join(cli.root, '..', 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'casefile'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`)
  chmodSync(join(bin, 'casefile'), 0o755)
  return { cli, env: { ...process.env, ...cli.env, PATH: `${bin}:${process.env.PATH}` } }
}

const missing = (shell: string) => {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0
  return isThere ? {} : { skip: `${shell} is not installed` }
}

// a test of its own: commands of other files in this process may run meanwhile otherwise
t.test('completion', inLongLane, async (t) => {
  const { cli, env } = await scene(t)

  const offered = async (...words: string[]) =>
    (await cli.run('__complete', ...words)).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t')[0])

  t.test('the program says what a word can become:', async (t) => {
    const places: [words: string[], offered: string[]][] = [
      [['ap'], ['approve']],
      [['prove', 'v'], ['verify']],
      [['list', '--st'], ['--state']],
      [['list', '--state', 'BLO'], ['BLOCKED']],
      [['set', 'x', 'sta'], ['state=']],
      [['set', 'x', 'state=wont'], ['state=WONT_FIX']],
      [['set', 'x', 'state', '=', 'wont'], ['WONT_FIX']],
      [['start', 'x', '--type', 'impl'], ['implementing']],
      [['show', 'sign'], ['sign-in fails']],
      [['show', '"red'], ['red door']],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish'],
      ],
      [['prove', 'add', 'x', ''], [':files']],
      [['nonsense', ''], []],
    ]
    for (const [words, expected] of places) {
      t.strictSame(await offered(...words), expected, words.join(' '))
    }
    const ids = await offered('show', '')
    t.equal(ids.length, 2)
    t.strictSame(await offered('show', ids[0]!.slice(0, 4)), [ids[0]])
    const elsewhere = join(cli.root, '..')
    const said = await cli.runWith({ cwd: elsewhere }, '__complete', 'show', '')
    t.match(said, { code: 0, stdout: '', stderr: '' }, 'an error leaves the line as it is')
    t.match(await cli.runWith({ cwd: elsewhere }, '__complete', 'show', '--root', cli.root, ''), {
      stdout: /Red door/,
    })
  })

  t.test('bash', missing('bash'), async (t) => {
    const lines = ['casefile show red', "casefile show ''", 'casefile session comment --re']
    const completed = lines.map(
      (line) => `COMP_WORDS=(${line}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
      _casefile 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}" ''`,
    )
    const script = `source <(casefile completion bash)\n${completed.join('\n')}`
    const { stdout } = spawnSync('bash', ['-c', script], { cwd: cli.root, env, encoding: 'utf8' })
    const [title, ids, options] = stdout.split('\n\n').map((each) => each.split('\n'))
    t.strictSame(title, ['red\\ door'])
    t.match(ids, [/^[0-9a-f]{8} {2}\(.*\)$/, /^[0-9a-f]{8} {2}\(.*\)$/])
    t.match(options, [/^--reply {2}/, /^--resolve {2}/, /^--reopen {2}/])
  })

  t.test('fish', missing('fish'), async (t) => {
    const script = 'casefile completion fish | source; complete -C "casefile app"'
    const { stdout } = spawnSync('fish', ['-c', script], { cwd: cli.root, env, encoding: 'utf8' })
    t.match(stdout, /^approve/)
  })

  t.test('zsh', missing('zsh'), async (t) => {
    const script = `autoload -U compinit && compinit -u; source <(casefile completion zsh)
    _describe() { print -l -- $values }; words=(casefile app); CURRENT=2; _casefile`
    const { stdout } = spawnSync('zsh', ['-c', script], { cwd: cli.root, env, encoding: 'utf8' })
    t.match(stdout, /^approve/)
  })
})
