import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { commandsHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { git } from '../fixtures/session-client.ts'

/** A workspace in a repository with a remote, and programs that leave a marker where a run may write. */
function project(t: Test) {
  t.teardown(() => {}) // or tap removes the testdir before the commands have ended
  const dir = t.testdir({
    home: { '.cache': { bin: {} } },
    state: {},
    root: { 'casefile.md': '', tools: {}, node_modules: { '.bin': {} }, memory: { cases: {} } },
  })
  const [root, home, marker] = [join(dir, 'root'), join(dir, 'home'), join(dir, 'marker')]
  const memory = join(root, 'memory')
  const script = (path: string, then: string) => {
    writeFileSync(path, `#!/bin/sh\necho "$0" >> ${marker}\n${then}\n`)
    chmodSync(path, 0o755)
  }
  git(dir, 'init', '-q', '--bare', 'origin.git')
  for (const at of [root, memory]) {
    git(at, 'init', '-q', '-b', 'main')
    appendFileSync(join(at, '.git/config'), '[user]\n\tname = a\n\temail = a\n')
  }
  git(memory, 'remote', 'add', 'origin', join(dir, 'origin.git'))
  const env = { CASEFILE_STATE_DIR: join(dir, 'state'), NODE_OPTIONS: '', HOME: home }
  const cli = commandsHere(t, { root, env })
  return {
    dir,
    root,
    home,
    memory,
    marker,
    script,
    cli,
  }
}

t.test(
  'sync starts no program that a run could have put into the configuration',
  inLongLane,
  async (t) => {
    const { dir, root, home, memory, marker, script, cli } = project(t)
    await cli.run('new', 'One')
    mkdirSync(join(memory, 'tools'))
    for (const name of ['clean', 'gpg', 'ssh']) script(join(memory, 'tools', name), 'cat')
    const elsewhere = join(dir, 'clean')
    writeFileSync(elsewhere, '#!/bin/sh\ncat\n')
    chmodSync(elsewhere, 0o755)
    writeFileSync(join(memory, '.gitattributes'), '*.txt filter=x\n')
    writeFileSync(join(memory, 'note.txt'), 'text\n')
    const shared = join(root, 'gitconfig-shared')
    writeFileSync(shared, '[filter "x"]\n\tclean = cat\n')
    const own = join(memory, '.git/config')
    const untouched = readFileSync(own)
    const set = (name: string, value: string) => git(memory, 'config', name, value)
    const config = join(home, '.gitconfig')
    const plants: [key: string, settings: string[][], path: string][] = [
      ['filter.x.clean', [['filter.x.clean', './tools/clean']], join(memory, 'tools/clean')],
      ['filter.x.clean', [['filter.x.clean', 'sh "$PWD/tools/clean" %f']], 'tools/clean'],
      [
        'gpg.program',
        [
          ['gpg.program', './tools/gpg'],
          ['commit.gpgSign', 'true'],
        ],
        join(memory, 'tools/gpg'),
      ],
      [
        'core.sshcommand',
        [
          ['core.sshCommand', './tools/ssh'],
          ['remote.origin.url', 'ssh://localhost/x'],
        ],
        join(memory, 'tools/ssh'),
      ],
      ['filter.x.clean', [['include.path', '../../gitconfig-shared']], shared],
      ['credential.helper', [['credential.helper', `!f() { ${root}/tools/x; }; f`]], 'tools/x'],
      ['remote.origin.url', [['remote.origin.url', '../tools']], join(root, 'tools')],
      ['url.ext::sh ./tools/x.insteadof', [['url.ext::sh ./tools/x.insteadOf', 'x:']], 'tools/x'],
    ]
    for (const [key, settings, path] of plants) {
      for (const [name, value] of settings) set(name!, value!)
      for (const args of key === 'gpg.program' ? [['sync', '--dry-run'], ['sync']] : [['sync']]) {
        const { code, json } = await cli.run(...args, '--json')
        t.equal(code, 2)
        t.equal(json.code, 'program_of_run')
        for (const part of [key, path, 'outside of the workspace', 'by hand'])
          t.ok(json.reason.includes(part), `${key}: ${json.reason}`)
      }
      writeFileSync(own, untouched)
    }
    writeFileSync(config, '[filter "x"]\n\tclean = ./tools/clean\n')
    t.match((await cli.run('sync', '--json')).json, { code: 'program_of_run' }, 'of the user')
    await cli.run('doctor', '--check')
    await cli.run('show', 'One')
    t.notOk(existsSync(marker), 'none was started')
    t.equal(git(memory, 'for-each-ref').trim(), '', 'nothing was committed')

    writeFileSync(config, `[filter "x"]\n\tclean = ${elsewhere}\n\trequired\n`)
    set('filter.lfs.clean', '"/opt/Program Files/lfs" clean -- %f || cat')
    t.match((await cli.run('sync', '--json')).json, { state: 'in_sync' })
  },
)

t.test('no command starts a git or unshare that a run could have put on the PATH', async (t) => {
  const { dir, root, home, marker, script, cli } = project(t)
  const real = process.env.PATH!
  const folders = [join(root, 'node_modules/.bin'), join(home, '.cache/bin'), join(dir, 'link')]
  symlinkSync(folders[0]!, folders[2]!)
  const links = join(dir, 'links')
  mkdirSync(links)
  for (const name of ['git', 'unshare', 'mount', 'setsid']) {
    for (const folder of folders.slice(0, 2))
      script(join(folder, name), `PATH='${real}' exec ${name} "$@"`)
    symlinkSync(join(folders[0]!, name), join(links, name))
  }
  const message = join(dir, 'message')
  writeFileSync(message, 'One\n')
  git(root, 'add', 'casefile.md')
  git(root, 'commit', '-qm', 'One')
  await cli.run('new', 'One')
  const commands = [
    ['doctor', '--check'],
    ['doctor', '--json'],
    ['verify-commits'],
    ['trailer'],
    ['trailer', '--message', message],
    ['sync'],
    ['session', 'plan', 'One'],
    ['show', 'One'],
    ['init', '--hook', '--yes'],
  ]
  const at = (PATH: string, args: string[]) => cli.runWith({ env: { PATH } }, ...args)
  const planted = [...folders, links].join(delimiter)
  for (const args of commands) {
    const { stderr } = await at(`${planted}${delimiter}${real}`, args)
    t.notOk(existsSync(marker), `${args.join(' ')}: ${stderr}`)
    t.notMatch(stderr, /where a run could|not found/, args.join(' '))
  }
  const { code, stdout, stderr } = await at(planted, ['verify-commits'])
  t.equal(code, 2)
  t.match(stdout + stderr, /git was found only in .*node_modules\/\.bin\/git, where a run could/)
  t.match(await at(planted, ['sync']), {
    stdout: /Git cannot be started \(git was found only in .*, where a run could have put it/,
  })
  t.notOk(existsSync(marker))

  const head = git(root, 'rev-parse', 'HEAD').trim()
  writeFileSync(join(root, '.git/info/grafts'), `${head} ${'a'.repeat(40)}\n`)
  const grafted = await cli.run('verify-commits')
  t.match(grafted.stderr, /Could not read a{40}/)
  t.notMatch(grafted.stderr, /hint:/, 'the cause, without what git advises')
})
