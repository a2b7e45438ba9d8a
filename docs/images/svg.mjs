/** What the drawings of the docs are made of. Each has its own background, so it can be read on any page. */

/** @typedef {'you' | 'agent' | 'casefile' | 'file'} Who */
/** @typedef {{ x: number, y: number, w: number, h: number }} Place */

const STYLE = `
  svg { color-scheme: light dark; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  text { font-family: system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Liberation Sans', sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .line { font-size: 13px; fill: #59636e; }
  .code { font-family: ui-monospace, SFMono-Regular, 'Liberation Mono', monospace; font-size: 12px; fill: #59636e; }
  .box { stroke-width: 1.5; }
  .you { fill: #ddf4ff; stroke: #0969da; }
  .agent { fill: #fbefff; stroke: #8250df; }
  .casefile { fill: #f6f8fa; stroke: #818b98; }
  .file { fill: #fff8c5; stroke: #9a6700; }
  .arrow { fill: none; stroke: #59636e; stroke-width: 1.5; }
  .back { stroke-dasharray: 5 4; }
  .tip { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d; }
    text { fill: #f0f6fc; }
    .line, .code { fill: #9198a1; }
    .you { fill: #121d2f; stroke: #4493f8; }
    .agent { fill: #271b3b; stroke: #ab7df8; }
    .casefile { fill: #151b23; stroke: #9198a1; }
    .file { fill: #272115; stroke: #d29922; }
    .arrow { stroke: #9198a1; }
    .tip { fill: #9198a1; }
  }
`

/** @type {(text: string) => string} */
const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')

/**
 * @param {{ width: number, height: number, title: string, description: string }} head
 * @param {string[]} parts
 */
export function drawing({ width, height, title, description }, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>${STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="tip" d="M0 0 L8 4 L0 8 z"/></marker></defs>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${parts.join('\n')}
</svg>
`
}

/** A box with a title and lines below it. @type {(place: Place, who: Who, title: string, lines?: string[], style?: string) => string} */
export function box({ x, y, w, h }, who, title, lines = [], style = 'line') {
  const rect = `<rect class="box ${who}" x="${x}" y="${y}" width="${w}" height="${h}" rx="6"/>`
  const below = lines.map((line, index) => text(x + 12, y + 46 + 18 * index, line, style))
  return [rect, text(x + 12, y + 24, title, 'title'), ...below].join('\n')
}

/** @type {(x: number, y: number, words: string, style?: string, anchor?: string) => string} */
export function text(x, y, words, style = 'line', anchor = 'start') {
  return `<text class="${style}" x="${x}" y="${y}" text-anchor="${anchor}">${escaped(words)}</text>`
}

/** Along the path, with a tip at its end; dashed if it leads back. @type {(path: string, isBack?: boolean) => string} */
export function arrow(path, isBack = false) {
  return `<path class="arrow${isBack ? ' back' : ''}" d="${path}" marker-end="url(#tip)"/>`
}

/** @type {(x: number, y: number, entries: [Who, string][]) => string} */
export function legend(x, y, entries) {
  const rows = entries.map(([who, words], index) => {
    const top = y + 24 * index
    return `<rect class="box ${who}" x="${x}" y="${top}" width="16" height="16" rx="3"/>\n${text(x + 26, top + 13, words)}`
  })
  return rows.join('\n')
}
