// SPDX-License-Identifier: MIT
// Queries a trace with the trace processor of the Perfetto UI, which runs as
// WebAssembly in Node.
//
//   node query.mjs FOLDER TRACE SQL...
//
// FOLDER holds what fetch.sh fetched. Prints one line for each SQL: a JSON array
// of rows, each an object by column. Integers that a double cannot hold become
// strings. If the trace cannot be read or a query fails, prints a message and
// exits with status 1.
//
// The package is made for a worker of a browser. This script provides the few
// globals that it needs, and patches it in three places, which must exist.

import {readFileSync, openSync, readSync, closeSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import vm from 'node:vm';

const chunkBytes = 16 << 20;
const [folder, trace, ...questions] = process.argv.slice(2);

function fail(message) {
	process.stderr.write(`query.mjs: ${message}\n`);
	process.exit(1);
}

function replaceOnce(text, from, to) {
	const parts = text.split(from);
	if (parts.length !== 2)
		fail(`${folder}: not the package that this was written for` +
			` (${from})`);
	return parts.join(to);
}

// Returns the bridge to the WebAssembly module, once the module runs.
async function startModule() {
	let code = readFileSync(join(folder, 'engine_bundle.node.js'), 'utf8');

	// The package contains the 32-bit module only.
	code = replaceOnce(code, 'this.useMemory64 = hasMemory64Support();',
		'this.useMemory64 = false;');
	code = replaceOnce(code, 'locateFile: (s) => s,',
		'locateFile: (s) => s, wasmBinary: globalThis.ncsWasm,');
	code = replaceOnce(code,
		'const wasmBridge = new wasm_bridge_1.WasmBridge();',
		'const wasmBridge = globalThis.ncsBridge =' +
		' new wasm_bridge_1.WasmBridge();');
	globalThis.ncsWasm = readFileSync(join(folder, 'trace_processor.wasm'));
	globalThis.WorkerGlobalScope = class {};
	globalThis.location = {href: pathToFileURL(resolve(folder)).href};
	globalThis.self = globalThis;
	// The module prints only messages about itself.
	console.log = console.warn = () => {};
	vm.runInThisContext(code, {filename: 'engine_bundle.node.js'});
	while (globalThis.ncsBridge.reqBufferAddr === 0)
		await new Promise((done) => setTimeout(done, 5));
	return globalThis.ncsBridge;
}

async function startEngine() {
	const {EngineBase} = await import(
		pathToFileURL(resolve(folder, 'engine.mjs')).href);
	const bridge = await startModule();
	const {port1, port2} = new MessageChannel();

	class Engine extends EngineBase {
		id = 'ncclstat';
		mode = 'WASM';
		rpcSendRequestBytes(bytes) {
			port2.postMessage(bytes);
		}
	}
	const engine = new Engine();
	bridge.initialize(port1);
	port2.onmessage = (message) => engine.onRpcResponseBytes(message.data);
	return engine;
}

async function load(engine) {
	const file = openSync(trace, 'r');

	for (;;) {
		const chunk = new Uint8Array(chunkBytes);
		const bytes = readSync(file, chunk, 0, chunkBytes, null);
		if (bytes === 0)
			break;
		await engine.parse(chunk.subarray(0, bytes));
	}
	closeSync(file);
	await engine.notifyEof();
}

function plain(value) {
	if (typeof value !== 'bigint')
		return value;
	return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
}

async function ask(engine, sql) {
	const result = await engine.query(sql);
	const columns = result.columns();
	const rows = [];

	for (const row = result.iter({}); row.valid(); row.next())
		rows.push(Object.fromEntries(
			columns.map((name) => [name, plain(row.get(name))])));
	process.stdout.write(`${JSON.stringify(rows)}\n`);
}

if (!trace || questions.length === 0)
	fail('usage: node query.mjs FOLDER TRACE SQL...');
process.on('uncaughtException', (error) => fail(error.message ?? error));
try {
	const engine = await startEngine();
	await load(engine);
	for (const sql of questions)
		await ask(engine, sql);
} catch (error) {
	fail(error.message ?? error);
}
process.exit(0);
