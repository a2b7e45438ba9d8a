import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { inBrowser } from '../fixtures/browser.ts'
import { ATTACKS, LINES } from '../fixtures/browser-attacks.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { finished, must, newSession, planned, reaches, step } from '../fixtures/session-client.ts'

const TEXT = ATTACKS.join('\n\n')
const NAME = '<img src=x onerror=pwned=1>.md'

/** Paths of pages on which every text that somebody may write is one of the attacks. */
async function attackedPages(t: Test) {
  const service = await serveSample(t)
  const print = [
    `cat <<'END'\n${TEXT}\nEND`,
    `printf '\\033[31m<img src=x onerror=pwned=1>\\033[0m\\n' >&2`,
    `echo changed > '${NAME}'`,
    `echo 'ok 1 - <img src=x onerror=pwned=1>' > /dev/null`,
  ].join('\n')
  const ref = await planned(service, {
    runbook: `${TEXT}\n\n${step(print)}`,
    note: TEXT,
    fields: { title: LINES[3], description: TEXT },
  })
  const of = `/case/${ref.case_id}`
  await finished(service, ref)
  const api = `/cases/${ref.case_id}`
  const proof = await must(service, 'POST', `${api}/proof`, { type: 'log', content: TEXT })
  await must(service, 'PUT', `${api}/memory/notes.md`, TEXT)
  const item = { description: LINES[3], type: 'log', required: true }
  await must(service, 'POST', `${api}/proof/checklist`, item)
  await must(service, 'PUT', `${api}/state`, { state: 'BLOCKED', reason: LINES[0] })
  await reaches(service, await newSession(service, ref.case_id), 'plan_ready')
  for (const title of LINES) await must(service, 'POST', '/cases', { title })
  writeFileSync(service.file(ref.case_id, NAME), TEXT)
  const byHand = await must(service, 'POST', '/cases', { title: 'By hand' })
  const tags = LINES.map((line) => JSON.stringify(line)).join(', ')
  writeFileSync(
    service.file(byHand.id, 'case.md'),
    `---\nid: ${byHand.id}\ntitle: <script>pwned=1</script>\nstate: <img src=x onerror=pwned=1>\ntags: [${tags}]\ntype: <img src=x onerror=pwned=1>\noutcome: <img src=x onerror=pwned=1>\n---\n\n${TEXT}\n`,
  )
  const pages = [
    '/',
    `/?q=${encodeURIComponent('"><img src=x onerror=pwned=1>')}`,
    '/?state=<script>',
    of,
    `${of}/session/1`,
    `${of}/session/2`,
    `${of}/session/<script>pwned=1<`,
    `${of}/memory/notes.md`,
    `${of}/memory/notes.md?source`,
    `${of}/proof/${proof.id}`,
    `${of}/memory/${encodeURIComponent(NAME)}`,
    `/case/${byHand.id}`,
  ]
  return { url: service.url, pages }
}

/** What is in a page that could do something, and what it did. */
function dangersIn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    if ('pwned' in window) found.push('a script ran')
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href], area[href]')) {
      if (!/^(https?|mailto):$/.test(link.protocol)) found.push(`a link to ${link.href}`)
    }
    const main = document.querySelector('main')!
    for (const each of main.querySelectorAll(
      'script, style, iframe, object, embed, base, meta, link, svg script, math, video, audio',
    ))
      found.push(`an element ${each.outerHTML.slice(0, 80)}`)
    for (const image of main.querySelectorAll('img')) {
      if (new URL(image.src).origin !== location.origin) found.push(`an image ${image.src}`)
    }
    for (const each of document.querySelectorAll('*')) {
      for (const { name, value } of each.attributes) {
        // the script itself may give a length by a property
        const isOwn = name === 'style' && /^--[a-z-]+: [\d.]+(px|ms)?;?$/.test(value)
        if (/^(on|formaction|srcdoc|style$)/.test(name) && !isOwn)
          found.push(`${name} of ${each.outerHTML.slice(0, 120)}`)
      }
    }
    for (const id of ['main', 'live', 'notices']) {
      const count = document.querySelectorAll(`#${id}, [name=${id}]`).length
      if (count !== 1) found.push(`${count} elements are named ${id}`)
    }
    if (document.querySelectorAll('main').length !== 1) found.push('the page was broken out of')
    return found
  })
}

inBrowser('no text that anybody writes does anything in a page', async (t, visitor) => {
  const { url, pages } = await attackedPages(t)
  visitor.expect(/the server responded with a status of 40[04]/)
  const guarded = await visitor.open(url)
  // so that not the policy alone protects
  const bare = await visitor.open(url, { bypassCSP: true })
  for (const path of pages) {
    for (const [how, page] of [
      ['', guarded],
      [' without the policy', bare],
    ] as const) {
      await page.goto(url + path)
      for (const details of await page.locator('main details:not([open]) > summary').all()) {
        if (await details.isVisible()) await details.click()
      }
      await page.mouse.move(600, 300)
      await page.mouse.move(600, 500)
      t.strictSame(await dangersIn(page), [], `${path.replace(/[\da-f-]{36}/g, '…')}${how}`)
    }
  }
})
