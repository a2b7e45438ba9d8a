import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { rememberFolders } from '../../src/files/remembered-folders.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { agentFiles, committed, LIST_PLAN, plannedBy, says } from '../fixtures/plain-agents.ts'
import { ran, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

/** The copy is there first: a service that writes meanwhile would make the folder again before all is copied. */
const swapped = (folder: string) =>
  `cd / && { cp -a "${folder}" "${folder}.new" || test -d "${folder}.new"; } && mv "${folder}" "${folder}.was" && mv -T "${folder}.new" "${folder}"\n`

async function serviceWith(t: Test, mount: boolean): Promise<TestService> {
  const plan = `${swapped('$WORKSPACE')}${says(LIST_PLAN)}`
  const files = agentFiles({ replaces: { plan } }, 'env: [WORKSPACE, STATE]\n')
  const service = await openTestService(t, { files, trust: true, mount })
  committed(service.root)
  Object.assign(process.env, { WORKSPACE: service.root, STATE: service.stateDir })
  t.teardown(() => {
    delete process.env.WORKSPACE
    delete process.env.STATE
  })
  return service
}

function isMounted(service: TestService, case_id: string): boolean {
  return readFileSync(service.file(case_id, 'sessions', '1.md'), 'utf8').includes('guard=mount')
}

t.test('a folder is told from all that may stand in its place', async (t) => {
  const cases: [name: string, change: (folder: string) => void, isOther: boolean][] = [
    ['what is in it', (folder) => writeFileSync(join(folder, 'new'), ''), false],
    ['a removal', (folder) => rmSync(folder, { recursive: true }), true],
    [
      'a new one at once',
      (folder) => {
        rmSync(folder, { recursive: true })
        mkdirSync(folder)
      },
      true,
    ],
    [
      'a link to itself',
      (folder) => {
        renameSync(folder, `${folder}.was`)
        symlinkSync(`${folder}.was`, folder)
      },
      true,
    ],
    [
      'a link above that leads to itself',
      (folder) => {
        const above = join(folder, '..')
        renameSync(above, `${above}.was`)
        symlinkSync(`${above}.was`, above)
      },
      true,
    ],
    [
      'a file',
      (folder) => {
        rmSync(folder, { recursive: true })
        writeFileSync(folder, '')
      },
      true,
    ],
  ]
  for (const [name, change, isOther] of cases) {
    const place = t.testdir({ above: { folder: { kept: '' } } })
    const folder = join(place, 'above/folder')
    const held = await rememberFolders({ it: folder, none: join(place, 'none') })
    t.strictSame(await held.replaced(), [])
    change(folder)
    t.strictSame(await held.replaced(), isOther ? ['it'] : [], name)
    await held.close()
    rmSync(place, { recursive: true })
  }
})

for (const mount of isLong ? [true, false] : [false]) {
  const how = mount ? 'with' : 'without'
  t.test(`a plan during which the workspace is replaced, ${how} mounts`, async (t) => {
    const service = await serviceWith(t, mount)
    const { ref, session } = await plannedBy(service, 'replaces')
    if (isMounted(service, ref.case_id)) {
      t.equal(session.state, 'plan_ready', 'it was refused')
      return
    }
    t.equal(session.state, 'failed')
    t.match(
      session.output,
      /plan_violation: the agent should only have planned, but .*the workspace.*the memory root.* moved away or rep/,
    )
  })
}

t.test('work during which the state folder is replaced', inLongLane, async (t) => {
  const service = await serviceWith(t, false)
  const { session } = await ran(service, step(swapped('$STATE')))
  t.equal(session.state, 'failed')
  t.match(
    session.output,
    /The run stopped: the state folder was moved away or replaced by something else/,
  )
})
