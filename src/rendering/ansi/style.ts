/** An index into the 256-colour palette, or `'255, 0, 0'`. */
export type AnsiColor = number | string

/** The style of text. Two styles that look the same have the same `key`. */
export interface AnsiStyle {
  foreground: AnsiColor | null
  background: AnsiColor | null
  /** In a fixed order. */
  marks: readonly AnsiMark[]
  /** The parameters that select all of this from scratch, as in `0;1;31`. */
  key: string
}

export type AnsiMark = 'bold' | 'dim' | 'italic' | 'underline' | 'inverse' | 'strike'

export const PLAIN: AnsiStyle = { foreground: null, background: null, marks: [], key: '0' }

/** The codes that set and unset a mark. Hidden and blinking text is shown like any other. */
const MARKS: readonly { mark: AnsiMark; on: number; off: readonly number[] }[] = [
  { mark: 'bold', on: 1, off: [21, 22] },
  { mark: 'dim', on: 2, off: [22] },
  { mark: 'italic', on: 3, off: [23] },
  { mark: 'underline', on: 4, off: [24] },
  { mark: 'inverse', on: 7, off: [27] },
  { mark: 'strike', on: 9, off: [29] },
]

const MAX_KNOWN = 2000
/** A cache: programs switch often between few styles. */
const known = new Map<string, AnsiStyle>()

/** Pure. The style after `ESC [ <parameters> m`. */
export function nextStyle(style: AnsiStyle, parameters: string): AnsiStyle {
  const change = `${style.key} ${parameters}`
  const found = known.get(change)
  if (found) return found
  const next = changed(style, parameters)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(change, next)
  return next
}

function changed(style: AnsiStyle, parameters: string): AnsiStyle {
  const text = withSemicolons(parameters)
  if (!/^[\d;]*$/.test(text)) return style
  let { foreground, background } = style
  const on = new Set(style.marks)
  const codes = text.split(';').map(Number) // an empty one is 0
  while (codes.length > 0) {
    const code = codes.shift()!
    if (code === 0) {
      foreground = null
      background = null
      on.clear()
    } else if (code === 38) foreground = extendedColor(codes) ?? foreground
    else if (code === 48) background = extendedColor(codes) ?? background
    else if (code === 39) foreground = null
    else if (code === 49) background = null
    else if (code >= 30 && code < 38) foreground = code - 30
    else if (code >= 90 && code < 98) foreground = code - 90 + 8
    else if (code >= 40 && code < 48) background = code - 40
    else if (code >= 100 && code < 108) background = code - 100 + 8
    for (const { mark, on: sets, off } of MARKS) {
      if (code === sets) on.add(mark)
      if (off.includes(code)) on.delete(mark)
    }
  }
  const marks = MARKS.filter(({ mark }) => on.has(mark))
  const key = [
    0,
    ...marks.map(({ on: code }) => code),
    ...(foreground === null ? [] : [codeOf(foreground, 30)]),
    ...(background === null ? [] : [codeOf(background, 40)]),
  ].join(';')
  return { foreground, background, marks: marks.map(({ mark }) => mark), key }
}

/** Takes what follows 38 or 48: `5;<index>` or `2;<red>;<green>;<blue>`. Null if it is no color. */
function extendedColor(codes: number[]): AnsiColor | null {
  const mode = codes.shift()
  const values = codes.splice(0, mode === 5 ? 1 : mode === 2 ? 3 : 0)
  if (values.length === 0 || values.some((value) => value > 255)) return null
  if (mode === 5) return values[0]!
  return values.length === 3 ? values.join(', ') : null
}

/** `38:2::1:2:3` and `38:5:1` mean the same as with semicolons. `4:0` is no underline, `4:3` a wavy one. */
function withSemicolons(parameters: string): string {
  return parameters
    .split(';')
    .map((code) =>
      code
        .replace(/^4:0$/, '24')
        .replace(/^4:[1-9]$/, '4')
        .replace(/^([34]8):2:\d*:(\d+):(\d+):(\d+)(?::.*)?$/, '$1;2;$2;$3;$4')
        .replace(/^([34]8):2:(\d+):(\d+):(\d+)$/, '$1;2;$2;$3;$4')
        .replace(/^([34]8):5:(\d+)$/, '$1;5;$2'),
    )
    .join(';')
}

function codeOf(color: AnsiColor, base: 30 | 40): string {
  if (typeof color === 'string') return `${base + 8};2;${color.replace(/, */g, ';')}`
  if (color >= 16) return `${base + 8};5;${color}`
  return String(color < 8 ? base + color : base + 60 + color - 8)
}
