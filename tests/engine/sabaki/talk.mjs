// Talks to an engine as Sabaki does, with Sabaki's own client; says on standard output, as JSON, what came back.
//
// node talk.mjs PROGRAM ARGUMENT…
import gtp from '@sabaki/gtp'

const [program, ...options] = process.argv.slice(2)
const controller = new gtp.Controller(program, options)
const tracker = new gtp.ControllerStateTracker(controller)
const told = {sent: [], stderr: []}

controller.on('command-sent', ({command}) => told.sent.push([command.name, ...command.args].join(' ')))
controller.on('stderr', ({content}) => told.stderr.push(content))
controller.start()

const ask = async (name, ...args) => {
  const {error, content} = await tracker.queueCommand({name, args})
  return {error, content}
}

// An analysis as the program shows it: lines as they come, then whatever ends it.
const analyse = async (stop, name, ...args) => {
  const lines = []
  let enough
  const shown = new Promise(resolve => (enough = resolve))
  const done = controller.sendCommand({name, args}, ({line}) => {
    if (line.startsWith('info ') && lines.push(line) === 3) enough()
  })
  await shown
  const after = await stop()
  const {error} = await done
  return {lines, error, after}
}

const genmoveAnalyze = async (name, ...args) => {
  const lines = []
  const {error} = await tracker.queueCommand({name, args}, ({line}) => lines.push(line))
  return {error, lines}
}

const play = (color, vertex) => ({name: 'play', args: [color, vertex]})
const position = (...history) => tracker.sync({komi: 6.5, boardsize: [9, 9], history})

// Attaching an engine: all four at once, without waiting.
const about = ['name', 'version', 'protocol_version', 'list_commands']
told.about = Object.fromEntries(await Promise.all(about.map(async name => [name, await ask(name)])))

// A game that is shown; a move, which is taken back; then thoughts about it, and another game, with handicap.
await position(play('B', 'E5'), play('W', 'C3'), play('B', 'G7'))
told.genmove = await ask('genmove', 'W')
told.afterGenmove = tracker.state.history.length
await position(play('B', 'E5'), play('W', 'C3'), play('B', 'G7'))
told.board = await ask('showboard')
const stopByLine = () => controller.process.stdin.write('\n')
const stopByCommand = () => controller.sendCommand({name: 'name'})
told.kata = await analyse(stopByLine, 'kata-analyze', 'W', 'interval', '5', 'ownership', 'true')
told.lz = await analyse(stopByCommand, 'lz-analyze', 'W', '5')
told.kataGenmove = await genmoveAnalyze('kata-genmove_analyze', 'W', '10')
told.lzGenmove = await genmoveAnalyze('lz-genmove_analyze', 'B', '10')
told.tracked = tracker.state.history.slice(3).map(({args}) => args)
told.illegal = await ask('play', 'W', 'E5')
told.unknown = await ask('dance')
await position({name: 'set_free_handicap', args: ['C3', 'G7']}, play('W', 'E5'))
told.handicap = await ask('showboard')
told.refusedBoard = await tracker.sync({boardsize: [9, 13]}).catch(error => error.message)
await controller.stop()
told.stopped = controller.process === null
console.log(JSON.stringify(told))
