/**
 * Takes the pictures of the tutorial, in the shop that it begins with. The commands are those of the page. A script
 * prints the plans that were recorded with Claude Code; the pictures call it `scripted-agent`.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from '../../bench/processes.mjs'

const PAGE = new URL('../tutorial.md', import.meta.url)
const RECORDED = new URL('../../test/fixtures/agents/tutorial-claude.txt', import.meta.url)
const CASE = 'total ignores'

/** @typedef {(name: string, url: string, height: number) => Promise<void>} Take */
/** @typedef {{ root: string, url: string, run(...args: string[]): void, stop(): Promise<unknown> }} Shop */

/** @type {(options: { program: string, home: string, take: Take }) => Promise<void>} */
export async function takeTutorials({ program, home, take }) {
  const page = readFileSync(PAGE, 'utf8')
  const agent = join(home, 'scripted-agent.mjs')
  mkdirSync(home, { recursive: true })
  writeFileSync(agent, scriptOf(recordedPlan('start'), recordedPlan('revise')))
  const provider = `provider: scripted-agent
providers:
  scripted-agent: { kind: command, plan: [node, ${agent}], work: [node, ${agent}] }`
  const planned = await openShop({ program, home: join(home, 'agent'), page, provider })
  try {
    const [folder = ''] = readdirSync(join(planned.root, 'memory/cases'))
    const session = `${planned.url}/case/${folder}/session/1`
    planned.run('start', CASE)
    planned.run('session', 'comment', CASE, '--step', 'fix', '-m', 'Older items have no quantity.')
    await take('tutorial-agent-plan', session, 950)
    planned.run('revise', CASE)
    planned.run('approve', CASE, '--yes')
    await take('tutorial-agent-done', session, 760)
  } finally {
    await planned.stop()
  }
}

/** The plan as the command showed it, without its marks and indents. @param {'start' | 'revise'} command */
function recordedPlan(command) {
  const printed = readFileSync(RECORDED, 'utf8').split(`$ casefile ${command} `)[1] ?? ''
  const [, plan = ''] = /^(Hypothesis\n[\s\S]*?```)\n\n(?! *▶)/m.exec(printed) ?? []
  const text = plan.replace(/^(?:▶ | {2})/gm, '').replace(/^(?=Hypothesis$|Plan$)/gm, '## ')
  if (!text.includes('run id=fix')) throw new Error(`no plan of ${command} is recorded`)
  return text
}

/** A program that plans twice. @type {(first: string, second: string) => string} */
function scriptOf(first, second) {
  return `import { readFileSync } from 'node:fs'
const isSentBack = readFileSync(0, 'utf8').includes('does not approve it as it is')
console.log(isSentBack ? ${JSON.stringify(second)} : ${JSON.stringify(first)})
`
}

/**
 * The shop, as the first `sh` block of the page makes it, with its case, and a service.
 * @type {(options: { program: string, home: string, page: string, provider?: string }) => Promise<Shop>}
 */
async function openShop({ program, home, page, provider }) {
  const root = join(home, 'shop')
  const [, commands = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(page) ?? []
  const [name, email] = ['Ada', 'ada@example.com']
  const env = {
    ...process.env,
    CASEFILE_STATE_DIR: join(home, 'state'),
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
  mkdirSync(home, { recursive: true })
  execFileSync('sh', ['-euc', commands], { cwd: home, env })
  execFileSync('git', ['config', 'user.name', name], { cwd: root })
  const run = (/** @type {string[]} */ ...args) =>
    void execFileSync(process.execPath, [program, ...args], { cwd: root, env, stdio: 'ignore' })
  run('init', '--yes', '--agent', 'none')
  if (provider !== undefined) {
    const settings = join(root, 'casefile.md')
    const text = readFileSync(settings, 'utf8')
    writeFileSync(
      settings,
      text.replace(/^provider: .*$/m, () => provider),
    )
    run('doctor', '--trust', '--yes')
  }
  run('new', 'The total ignores the quantity', '--type', 'bug')
  execFileSync('git', ['add', '--all'], { cwd: root })
  execFileSync('git', ['commit', '--quiet', '--message=A case'], { cwd: root, env })
  const service = startChild([
    ...[program, 'serve', '--root', root, '--state-dir', env.CASEFILE_STATE_DIR, '--port', '0'],
  ])
  const { found } = await service.line(/^Casefile is listening on (http:\S+)$/m)
  return { root, url: String(found[1]), run, stop: () => service.stop('SIGTERM') }
}
