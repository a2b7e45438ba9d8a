import { chromium } from 'playwright-core'
import which from 'which'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** Debian's chromium, or the one that CASEFILE_CHROMIUM names. It reaches nothing but this machine. */
export async function launchBrowser() {
  const found = NAMES.map((name) => which.sync(name, { nothrow: true })).find(Boolean)
  const executablePath = process.env.CASEFILE_CHROMIUM ?? found
  if (!executablePath)
    throw new Error(`none of ${NAMES.join(', ')} is here: install one, or set CASEFILE_CHROMIUM`)
  return chromium.launch({
    executablePath,
    args: [
      ...['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  })
}
