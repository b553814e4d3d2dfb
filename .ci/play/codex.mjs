// Whole reviews through the app-server of a real Codex, with the servers that are
// in its configuration. Needs no login: it calls tools without a model.
import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { check, givenUp, outcome, part, review, stressTest } from "./reviews.mjs";

const codex = spawn("codex", ["app-server"], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
createInterface({ input: codex.stdout }).on("line", (line) => {
	const m = JSON.parse(line);
	if (m.method) return; // notifications, and questions that nobody answers
	const { resolve, reject } = waiting.get(m.id);
	waiting.delete(m.id);
	m.error ? reject(new Error(JSON.stringify(m.error))) : resolve(m.result);
});
codex.on("exit", (code) => waiting.forEach(({ reject }) => reject(new Error(`codex ended with ${code}`))));
const send = (message) => codex.stdin.write(JSON.stringify(message) + "\n");
let id = 0;
const request = (method, params) =>
	new Promise((resolve, reject) => {
		waiting.set(++id, { resolve, reject });
		send({ id, method, params });
	});

await part("codex app-server", async () => {
	await request("initialize", { clientInfo: { name: "qa-orch-clients", title: null, version: "1" } });
	send({ method: "initialized" });
	const { data } = await request("mcpServerStatus/list", {});
	for (const [name, tools] of [["qa-orch", 5], ["qa-orch-advocate", 7]]) {
		const found = Object.keys(data.find((s) => s.name === name)?.tools ?? {});
		check(`${name}: ${tools} tools`, found.length === tools, found);
	}
	const { thread } = await request("thread/start", { cwd: process.cwd() });
	const client = (server) => ({
		call: async (tool, args) => {
			const r = await request("mcpServer/tool/call", { server, threadId: thread.id, tool, arguments: args });
			return { isError: r.isError === true, text: r.content[0].text, content: r.structuredContent ?? undefined };
		},
		read: async (uri) => (await request("mcpServer/resource/read", { server, threadId: thread.id, uri })).contents[0].text,
	});
	await part("qa-orch", () =>
		review(client("qa-orch"), async (run_id) => {
			// Codex hides its environment from servers, so the store is the one that connect wrote.
			const shown = JSON.parse(execFileSync("qa-orch", ["sessions", "--json"], { encoding: "utf8" }));
			check("another process sees the session", JSON.stringify(shown).includes(run_id), shown);
		}),
	);
	await part("qa-orch-advocate", async () => {
		await stressTest(client("qa-orch-advocate"));
		await givenUp(client("qa-orch-advocate"));
	});
});
codex.removeAllListeners("exit");
codex.stdin.end();
codex.kill();
process.exitCode = outcome();
