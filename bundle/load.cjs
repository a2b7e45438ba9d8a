/**
 * Loads the scripts that `bundle.mjs` made; it lies beside them in dist/ as load.js. Each is run with what V8 made of
 * it at the build, unless this is another V8 or another kind of machine: that one compiles it anew.
 */
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const vm = require('node:vm')
const { crc32 } = require('node:zlib')

const bundleUrl = pathToFileURL(__filename).href
/** What each script exports, by its name as in `./main.js`. */
const loaded = new Map()

exports.load = load
exports.sumOf = sumOf

function load(name) {
  const known = loaded.get(name)
  if (known) return known
  const exported = {}
  loaded.set(name, exported)
  const filename = join(__dirname, name)
  const script = new vm.Script(readFileSync(filename, 'latin1'), {
    filename,
    cachedData: compiled(filename),
  })
  script.runInThisContext()(exported, load, require, bundleUrl, importPackage)
  return exported
}

/** For the scripts: in one that V8 was given compiled, Node 20 cannot do it. */
function importPackage(specifier) {
  return import(specifier)
}

/** V8 does not look whether what it is given is whole: of damaged code the program would die. */
function compiled(filename) {
  try {
    const kept = readFileSync(`${filename}.compiled`)
    const made = kept.subarray(4)
    return kept.length > 4 && kept.readUInt32LE() === sumOf(made) ? made : undefined
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Of what V8 made, for this very V8 on this kind of machine. */
function sumOf(made) {
  const { platform, arch, versions } = process
  return crc32(made, crc32(`${platform} ${arch} ${versions.v8}`))
}
