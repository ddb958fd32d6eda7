// SPDX-License-Identifier: MIT
// Runs SQL in DuckDB, in the current folder.
//
//   node query.mjs FOLDER SQL...
//
// FOLDER is what fetch.sh filled; each SQL is a statement, or @ and the name of
// a file with one. Prints one line for each: a JSON array of rows, each an object
// by column. Integers of 64 bits become strings. If one fails, prints a message
// and exits with status 1.

import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';
import {resolve} from 'node:path';

const [folder, ...questions] = process.argv.slice(2);

try {
	const require = createRequire(resolve(folder, 'package.json'));
	const {DuckDBInstance} = require('@duckdb/node-api');
	const instance = await DuckDBInstance.create(':memory:',
		{threads: '1', autoinstall_known_extensions: 'false',
			autoload_known_extensions: 'false'});
	const connection = await instance.connect();

	for (const question of questions) {
		const sql = question.startsWith('@') ?
			readFileSync(question.slice(1), 'utf8') : question;
		const reader = await connection.runAndReadAll(sql);
		process.stdout.write(
			`${JSON.stringify(reader.getRowObjectsJson())}\n`);
	}
} catch (error) {
	process.stderr.write(`query.mjs: ${error.message ?? error}\n`);
	process.exit(1);
}
