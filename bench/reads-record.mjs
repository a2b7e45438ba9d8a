import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Those that `node:http` sends by itself. */
const OWN = new Set(['date', 'connection', 'keep-alive'])

/**
 * Keeps what a server answers, headers and bytes, for `reads-limit.mjs`.
 * @param {string} url
 * @param {readonly string[]} paths
 * @param {string} folder
 */
export async function recordAnswers(url, paths, folder) {
  /** @type {import('./reads-limit.mjs').Recorded[]} */
  const answers = []
  for (const [index, path] of paths.entries()) {
    const response = await fetch(url + path)
    if (response.status !== 200) throw new Error(`GET ${path} is answered ${response.status}`)
    /** @type {Record<string, string>} */
    const headers = {}
    response.headers.forEach((value, name) => {
      if (!OWN.has(name)) headers[name] = value
    })
    const file = `${index}.json`
    writeFileSync(join(folder, file), Buffer.from(await response.arrayBuffer()))
    answers.push({ path, headers, file })
  }
  writeFileSync(join(folder, 'answers.json'), JSON.stringify(answers))
}
