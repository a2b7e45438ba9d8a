import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../package-files.ts'
import { trust } from '../trust/trust-command.ts'
import { copySample } from './sample-copy.ts'

interface DemoWorkspaceOptions {
  /** The folder of the sample. */
  sample: string
  /** The demo's own folder, which is removed in the end. */
  home: string
  /** How long the scripted agent waits before each line that it prints. */
  paceMs: number
}

export interface DemoWorkspace {
  root: string
  stateDir: string
}

/** The sample's own case about the bug. The demo reports the bug itself. */
const REPORTED_ALREADY = 'c12d54ae-1933-4631-a05f-aecf75428827'

/** Makes a copy of the sample in which a scripted agent plans and works. It is trusted only in this demo's state folder. */
export async function makeDemoWorkspace(options: DemoWorkspaceOptions): Promise<DemoWorkspace> {
  const { sample, home, paceMs } = options
  const [source, root, stateDir] = ['sample', 'workspace', 'state'].map((name) => join(home, name))
  await cp(sample, source!, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => ![REPORTED_ALREADY, '.git', 'node_modules'].includes(basename(path)),
  })
  const settings = join(source!, 'casefile.md')
  const text = await readFile(settings, 'utf8')
  await writeFile(
    settings,
    text.replace(/^provider: .*$/m, () => scriptedAgent(paceMs)),
  )
  await copySample(source!, root!)
  await rm(source!, { recursive: true })
  const silent = { print() {}, warn() {}, ask: null }
  await trust({ root: root!, stateDir: stateDir!, yes: true }, silent)
  return { root: root!, stateDir: stateDir! }
}

function scriptedAgent(paceMs: number): string {
  const program = fileURLToPath(packageFile('dist/scripted-agent.js'))
  const command = (mode: string) =>
    JSON.stringify([process.execPath, program, mode, String(paceMs)])
  return `provider: scripted-agent      # plays its part in the demo: no model, no network
providers:
  scripted-agent:
    kind: command
    plan: ${command('plan')}
    work: ${command('work')}
    stream: claude`
}
