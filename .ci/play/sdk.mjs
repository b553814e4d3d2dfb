// Every tool of both servers through the TypeScript SDK, which validates each
// structured content against the tool's output schema.
//
//   node sdk.mjs NODE_MODULES QA_ORCH FOLDER
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, givenUp, outcome, part, review, stressTest } from "./reviews.mjs";

const [modules, program, folder] = process.argv.slice(2);
const sdk = (file) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm", file)));
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");

/** Starts a server, runs the checks, and says how many answers the SDK validated. */
async function withServer(args, count, run) {
	await part(`TypeScript SDK: ${args.join(" ")}`, async () => {
		const transport = new StdioClientTransport({ command: program, args, env: { HOME: folder, PATH: "/nonexistent" }, stderr: "inherit" });
		const client = new Client({ name: "qa-orch-clients", version: "1" });
		await client.connect(transport);
		const { tools } = await client.listTools();
		check(`${count} tools, each with an output schema`, tools.length === count && tools.every((t) => t.outputSchema), tools.map((t) => t.name));
		let validated = 0;
		const called = new Set();
		const validator = client.getToolOutputValidator.bind(client);
		client.getToolOutputValidator = (name) => {
			const validate = validator(name);
			return validate && ((content) => (validated++, validate(content)));
		};
		const wrapped = {
			call: async (name, args) => {
				const r = await client.callTool({ name, arguments: args });
				if (!r.isError) called.add(name);
				return { isError: r.isError === true, text: r.content[0].text, content: r.structuredContent };
			},
			read: async (uri) => (await client.readResource({ uri })).contents[0].text,
		};
		await run(client, wrapped);
		check("every tool was called", called.size === count, [...called]);
		check(`${validated} structured contents are valid`, validated > 0);
		await client.close();
	});
}

/** An answer that breaks its schema must not pass: else the checks above say nothing. */
async function spoiled(client, wrapped) {
	const { transport } = client;
	const onmessage = transport.onmessage;
	transport.onmessage = (m) => {
		if (m.result?.structuredContent) m.result.structuredContent.allowed_profiles = null;
		onmessage(m);
	};
	const problem = await wrapped.call("start_qa_orchestration", { task_type: "other" }).catch((e) => e);
	check("a list that is null would be noticed", problem instanceof Error && /output schema/.test(problem.message), String(problem));
	transport.onmessage = onmessage;
}

await withServer(["serve"], 5, async (client, wrapped) => {
	await review(wrapped);
	await spoiled(client, wrapped);
	const { resources } = await client.listResources();
	for (const { uri } of resources) JSON.parse(await wrapped.read(uri));
	check(`${resources.length} resources are JSON`, resources.length === 3);
	const { messages } = await client.getPrompt({ name: "qa_review", arguments: { task_type: "epic_analysis" } });
	check("the prompt", messages.length > 0, messages);
	const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "qa_review" }, argument: { name: "task_type", value: "e" } });
	check("completion of its argument", completion.values.includes("epic_analysis"), completion);
	const unknown = await client.callTool({ name: "no_such_tool", arguments: {} }).catch((e) => e);
	check("a tool that there is not", unknown instanceof Error || unknown.isError, unknown);
});

await withServer(["serve", "--tools", "extended", "--store", "~/sdk.sqlite3"], 7, async (client, wrapped) => {
	await review(wrapped, async (run_id) => {
		const list = await wrapped.call("list_qa_orchestrations");
		check("the list has the session", list.content.sessions.some((s) => s.run_id === run_id), list);
	});
	const policy = await wrapped.call("get_qa_orchestration_model_policy", {});
	check("the model policy", policy.content.provider === "openai", policy);
});

await withServer(["advocate", "serve"], 7, async (client, wrapped) => {
	for (const mode of ["devils_advocate", "premortem", "assumptions", "steelman", "gauntlet"]) await stressTest(wrapped, mode);
	await givenUp(wrapped);
	const listing = JSON.parse(await wrapped.read("reviews://"));
	check("a resource lists the six reviews", listing.count === 6, listing);
	const { messages } = await client.getPrompt({ name: "stress_test", arguments: { claim: "Release 4.2 is ready" } });
	check("the prompt", messages.length > 0, messages);
	const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "stress_test" }, argument: { name: "mode", value: "pre" } });
	check("completion of its argument", completion.values.includes("premortem"), completion);
});
process.exitCode = outcome();
