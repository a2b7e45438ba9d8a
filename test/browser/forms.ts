import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page, Route } from 'playwright-core'
import { eventually, inBrowser, isLive } from '../fixtures/browser.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { must, planned, step } from '../fixtures/session-client.ts'

inBrowser('Ctrl+Enter sends the form it is written in, and no button', async (t, visitor) => {
  const service = await serveSample(t)
  const ref = await planned(service, { runbook: step('true') })
  const page = await visitor.open(`${service.url}/case/${ref.case_id}/session/1`)
  await isLive(page)
  const sent = sentBy(page)
  await page.getByRole('button', { name: 'Edit the plan', exact: true }).click()
  await page.getByLabel('Plan', { exact: true }).fill(step('false'))
  await page.locator('#show-unsaved').press('Control+Enter')
  await page.locator('#approve-form').evaluate((form) => {
    // as if the form had a field
    const field = document.createElement('input')
    field.id = 'written'
    field.dataset.own = ''
    form.append(field)
  })
  await page.locator('#written').press('Control+Enter')
  t.strictSame(sent, [], 'Approve is held back')
  t.equal((await must(service, 'GET', ref.path)).state, 'plan_ready')
})

inBrowser('an answer sweeps nothing away that is typed while it is awaited', async (t, visitor) => {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Slow' })
  const page = await openCase(visitor, service.url, id)
  const goOn = await holdBack(page, `**/cases/${id}/proof/checklist`)
  await page.getByText('Add a requirement', { exact: true }).click()
  const field = page.getByLabel('What has to be proved?')
  await field.fill('All tests pass')
  await field.press('Enter')
  await page.locator('#add-item-form[data-busy]').waitFor()
  await must(service, 'PUT', `/cases/${id}`, { title: 'Refreshed meanwhile' })
  await page.getByRole('heading', { level: 1, name: 'Refreshed meanwhile' }).waitFor()
  await field.press('x')
  t.equal(await field.inputValue(), 'All tests pass', 'it takes no letter')
  goOn()
  await page.locator('#gate').getByText('Missing: All tests pass').waitFor()
  await page.getByText('Add a requirement', { exact: true }).click()
  await field.fill('Another one')
  t.equal(await field.inputValue(), 'Another one', 'and then it does again')
})

inBrowser('what is saved is what was changed', async (t, visitor) => {
  visitor.expect(/status of 412/)
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Tagged' })
  const file = service.file(id, 'case.md')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('tags: []', 'tags: [needs review, speed]'))
  const page = await openCase(visitor, service.url, id)
  await page.locator('.record-tags').getByText('needs review').waitFor()

  await page.locator('#edit-case > summary').click()
  await page.getByLabel('Title').fill('Tagged, and renamed')
  await page.locator('#edit-case').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tagged, and renamed' }).waitFor()
  const tags = ['needs review', 'speed']
  t.match(await must(service, 'GET', `/cases/${id}`), { title: 'Tagged, and renamed', tags })

  await page.locator('#edit-case > summary').click()
  await must(service, 'PUT', `/cases/${id}`, { title: 'By somebody else' })
  await page.locator('#edit-outcome').fill('WontFix')
  await page.locator('#edit-case').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'By somebody else' }).waitFor()
  const saved = await eventually(
    () => must(service, 'GET', `/cases/${id}`),
    ({ outcome }) => outcome === 'WontFix',
  )
  t.match(saved, { title: 'By somebody else' }, 'changes of two fields go together')
})

inBrowser('a conflict that cannot be read is said in the form', async (t, visitor) => {
  visitor.expect(/status of 412|ERR_FAILED/)
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Theirs' })
  const page = await openCase(visitor, service.url, id)
  await page.locator('#edit-case > summary').click()
  await page.getByLabel('Title').fill('Mine')
  const address = page.url()
  await page.route(address, (route) => route.abort())
  await must(service, 'PUT', `/cases/${id}`, { title: 'Theirs, again' })
  const save = page.locator('#edit-case').getByRole('button', { name: 'Save', exact: true })
  await save.click()
  await page.getByText('Your text is still here').waitFor()
  t.equal(await page.getByLabel('Title').inputValue(), 'Mine')
  await page.unroute(address)
  await save.click()
  await page.getByText('Theirs, again', { exact: true }).last().waitFor()
  await page.getByRole('button', { name: 'Overwrite with mine' }).click()
  await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor()
})

inBrowser('a save of a memory file that got no answer keeps the text', async (t, visitor) => {
  visitor.expect(/ERR_FAILED/)
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Notes' })
  const api = `${service.url}/cases/${id}/memory/notes.md`
  await must(service, 'PUT', `/cases/${id}/memory/notes.md`, 'One.\n')
  const page = await visitor.open(`${service.url}/case/${id}/memory/notes.md`)
  await isLive(page)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('#memory-source').fill('Two.\n')
  const save = page.getByRole('button', { name: 'Save', exact: true })
  const saveLosing = async (lose: (route: Route) => Promise<unknown>) => {
    await page.route(api, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue()
      await lose(route)
      return route.abort()
    })
    await save.click()
    await page.getByText('Your text is still here.').waitFor()
    await page.unroute(api)
  }

  await saveLosing(async () => {})
  await must(service, 'PUT', `/cases/${id}`, { title: 'Notes, again' })
  await page.getByText('it does now. Your text is still here. Save it again.').waitFor()
  t.equal(await page.locator('[role=alert]').count(), 1, 'one message')
  t.equal(await page.locator('#memory-source').inputValue(), 'Two.\n')

  await saveLosing((route) => route.fetch())
  await must(service, 'PUT', `/cases/${id}`, { title: 'Notes' })
  await page.getByText('Saved.', { exact: true }).waitFor()
  t.equal(await page.locator('#memory-source').count(), 0, 'what arrived is no conflict')
  await page.locator('#memory-text').getByText('Two.').waitFor()
})

inBrowser('of two files the one chosen last is attached, read or not', async (t, visitor) => {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Files' })
  const folder = join(service.root, 'chosen')
  mkdirSync(folder)
  for (const name of ['slow.log', 'fast.tap']) writeFileSync(join(folder, name), `of ${name}\n`)
  const page = await openCase(visitor, service.url, id)
  await page.evaluate(() => {
    const read = File.prototype.arrayBuffer
    File.prototype.arrayBuffer = async function (this: File) {
      await new Promise((resolve) => addEventListener(`read ${this.name}`, resolve))
      return read.call(this)
    }
  })
  const isRead = (name: string) =>
    page.evaluate((name) => dispatchEvent(new Event(`read ${name}`)), name)
  await page.locator('#attach-proof > summary').click()
  const input = page.locator('#proof-file')
  await input.setInputFiles(join(folder, 'slow.log'))
  await input.setInputFiles(join(folder, 'fast.tap'))
  await isRead('slow.log')
  await page.getByRole('button', { name: 'Attach', exact: true }).click()
  await page.locator('#attach-form[data-busy]').waitFor()
  await isRead('fast.tap')
  await page.locator('#proof li').getByText('of fast.tap').waitFor()
  const proofs = await must(service, 'GET', `/cases/${id}/proof`)
  t.match(proofs, [{ type: 'test-log', content: 'of fast.tap\n' }])
  t.equal(proofs.length, 1)
})

inBrowser('a proof that changes under the pointer is asked about', async (t, visitor) => {
  const service = await serveSample(t)
  const { id } = await must(service, 'POST', '/cases', { title: 'Proof' })
  const fields = { type: 'log', content: 'what was read\n' }
  const proof = await must(service, 'POST', `/cases/${id}/proof`, fields)
  const page = await openCase(visitor, service.url, id)
  const file = service.file(id, 'proof', `${proof.id}.md`)
  writeFileSync(file, readFileSync(file, 'utf8').replace('what was read', 'something else'))
  await page.locator('#proof').getByText('something else').waitFor()
  await page.locator('#proof').getByRole('button', { name: 'Verify log' }).click()
  await page.getByRole('dialog').getByText('changed while the page was open').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const { verified } = await must(service, 'GET', `/cases/${id}/proof/${proof.id}`)
  t.equal(verified, false)
})

inBrowser('a page behind another streams output when it is first seen', async (t, visitor) => {
  const service = await serveSample(t)
  const ref = await planned(service, { runbook: step('true') })
  const page = await visitor.open(`${service.url}/new`)
  await page.addInitScript(() => {
    let isHidden = true
    Object.defineProperty(document, 'hidden', { get: () => isHidden })
    addEventListener('now seen', () => {
      isHidden = false
      document.dispatchEvent(new Event('visibilitychange'))
    })
  })
  const streams: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname === '/events') streams.push(search)
  })
  await page.goto(`${service.url}/case/${ref.case_id}/session/1`, { waitUntil: 'load' })
  await isLive(page)
  t.notOk(
    streams.some((search) => !search.includes('output=no')),
    'only the stream that all tabs share',
  )
  await page.evaluate(() => dispatchEvent(new Event('now seen')))
  await eventually(() => streams.includes(`?after=now&case=${ref.case_id}`))
})

async function openCase(
  visitor: { open(url: string): Promise<Page> },
  url: string,
  id: string,
): Promise<Page> {
  const page = await visitor.open(`${url}/case/${id}`)
  await isLive(page)
  return page
}

/** What the page sends to change something. */
function sentBy(page: Page): string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${request.url()}`)
  })
  return sent
}

/** Holds requests back until the returned function is called. */
async function holdBack(page: Page, address: string): Promise<() => void> {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  await page.route(address, async (route: Route) => {
    await held
    await route.continue()
  })
  return goOn
}
