import { readFileSync } from 'node:fs'
import { inBrowser, isLive } from '../fixtures/browser.ts'
import { axeViolations } from '../fixtures/browser-axe.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { isFull } from '../fixtures/full.ts'

const WAITING = '/case/c12d54ae-1933-4631-a05f-aecf75428827'
const RESOLVED = '/case/6802b34d-37d5-420a-afaa-e69e7f45a6ed'
const BLOCKED = '/case/3359e9da-452b-4dcf-aac6-71dadc60c8d1'

/** Each kind of page, in the sample workspace, and words that it has to show. */
const PAGES: { name: string; path: string; shows: string[]; isLong?: true }[] = [
  {
    name: 'the cases',
    path: '/',
    shows: ['Signed out again right after signing in', 'Waiting for you'],
  },
  { name: 'some cases', path: '/?q=hash', shows: ['Two people with one password'] },
  { name: 'no cases', path: '/?q=nothing+has+this', shows: [] },
  { name: 'what was found', path: '/find?q=salt+xyzzy', shows: ['case.md:', 'Missing: xyzzy'] },
  { name: 'new case', path: '/new', shows: [] },
  { name: 'agents in terminals', path: '/agents', shows: ['No agent was heard'] },
  { name: 'a case', path: WAITING, shows: ['Every token counts as expired'] },
  { name: 'a resolved case', path: RESOLVED, shows: ['ConfirmedCodeBug'] },
  { name: 'a blocked case', path: BLOCKED, shows: [] },
  {
    name: 'a session that waits',
    path: `${WAITING}/session/1`,
    shows: ['Then run every test there is', 'npm test --silent'],
  },
  { name: 'a session that has ended', path: `${RESOLVED}/session/1`, shows: ['src/password.js'] },
  { name: 'a memory file', path: `${RESOLVED}/memory/review.md`, shows: ['NIST SP 800-132'] },
  { name: 'its source', path: `${RESOLVED}/memory/review.md?source`, shows: ['NIST SP 800-132'] },
  {
    name: 'a proof',
    path: `${RESOLVED}/proof/1f769663-1cea-4781-a6c3-dba4891688a2`,
    shows: ['Old hashes were tried'],
  },
  {
    name: 'the API',
    path: '/docs',
    isLong: true,
    shows: ['Whether a case may be RESOLVED', 'last-event-id', 'X-Service-Event', 'proof_gate'],
  },
  { name: 'help', path: '/help', shows: ['Help pages'] },
  { name: 'a page of the docs', path: '/help/console', shows: ['On this page', 'Keys'] },
  { name: 'nothing', path: '/case/00000000-0000-4000-8000-000000000000', shows: ['not'] },
]

inBrowser(
  'axe-core finds nothing serious, in light and in dark, and a phone scrolls no page sideways',
  async (t, visitor) => {
    visitor.expect(/status of 404/)
    const { url } = await serveSample(t)
    const page = await visitor.open(url, { bypassCSP: true })
    // a page with thousands of elements takes axe-core a while
    for (const { name, path } of PAGES.filter(({ isLong }) => isFull || !isLong)) {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(url + path)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.strictSame(await axeViolations(page), [], `${name}, ${colorScheme}`)
      }
      await page.setViewportSize({ width: 360, height: 740 })
      const wide = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return scrollWidth - clientWidth
      })
      t.equal(wide, 0, `${name}, on a phone`)
    }
  },
)

inBrowser('without JavaScript every page can be read', async (t, visitor) => {
  visitor.expect(/status of 404/)
  const { url } = await serveSample(t)
  const page = await visitor.open(url, { javaScriptEnabled: false })
  for (const { name, path, shows } of PAGES) {
    await page.goto(url + path)
    const text = (await page.locator('main').innerText()).toLowerCase()
    for (const words of shows) {
      t.ok(text.includes(words.toLowerCase()), `${name} shows "${words}"`, { text })
    }
    t.equal(await page.locator('h1').count(), 1, `${name} has one heading of the first level`)
    t.equal(
      await page
        .locator('main form[data-send]:visible, main button:not(form[method=get] *):visible')
        .count(),
      0,
      `${name} offers nothing that needs the script`,
    )
  }
})

inBrowser(
  '? lists the keys of a page, each of them is documented, and Esc closes it',
  async (t, visitor) => {
    const { url } = await serveSample(t)
    const documented = keysIn(
      readFileSync(new URL('../../docs/console.md', import.meta.url), 'utf8'),
    )
    const page = await visitor.open(url)
    const help = page.getByRole('dialog', { name: 'Keys' })
    for (const path of ['/', WAITING, `${WAITING}/session/1`, `${WAITING}/memory/runbook.md`]) {
      await page.goto(url + path)
      await isLive(page)
      await page.keyboard.press('?')
      const keys = (await help.locator('dt').allInnerTexts()).flatMap((text) => text.split(' '))
      t.strictSame(
        keys.filter((key) => key !== '?' && !documented.includes(key)),
        [],
        `all ${keys.length} keys are in docs/console.md`,
      )
      await page.keyboard.press('Escape')
      await help.waitFor({ state: 'detached' })
    }
    await page.keyboard.press('?')
    await help.getByRole('link', { name: 'Help' }).click()
    await page.waitForURL('**/help')
    await page.keyboard.press('n')
    await page.waitForURL('**/new')
  },
)

/** Those of the first column of the table. */
function keysIn(text: string): string[] {
  const cells = [...text.matchAll(/^(?:\| )?(`.*?) \|/gm)].map(([, cell]) => cell!)
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key]) => key!))
}
