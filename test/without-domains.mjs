/**
 * Loaded before tap in a process of many files. tap follows each promise to the test that made it (async-hook-domain), for
 * errors that no test awaits. That takes a third of the time of many tests: here `group.mjs` reports such an error, with its
 * stack but at the end. A file that runs alone keeps what tap does.
 */
import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const { createHook } = hooks
const followsNothing = { enable() {}, disable() {} }
hooks.createHook = (callbacks) =>
  new Error().stack.includes('async-hook-domain') ? followsNothing : createHook(callbacks)
syncBuiltinESMExports()
