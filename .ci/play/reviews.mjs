// The reviews that every client is led through, and the checks that are printed.
// A client is {call(tool, args), read(uri)}: call resolves to {isError, text,
// content} where content is the structured content, read to the text of the
// resource; both reject when the protocol fails.
import { readFileSync } from "node:fs";

let failed = 0;
const labels = [];

/** Prints a check as "ok" or "FAIL"; what is wrong goes under it. */
export function check(name, ok, detail) {
	console.log(`${(ok ? "ok" : "FAIL").padEnd(8)} ${[...labels, name].join(": ")}`);
	if (ok) return;
	failed++;
	console.log(`         ${typeof detail === "string" ? detail : JSON.stringify(detail)}`);
}

/** Runs a part of the checks under its name; an exception is a check that failed. */
export async function part(name, run) {
	labels.push(name);
	try {
		await run();
	} catch (problem) {
		check("ended early", false, String(problem?.stack ?? problem));
	}
	labels.pop();
}

/** The exit code. */
export const outcome = () => (failed ? 1 : 0);

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Makes a client tell its calls apart: must for those that have to succeed. */
function calls(client) {
	const count = { must: 0, refused: 0 };
	return {
		count,
		must: async (tool, args) => {
			const r = await client.call(tool, args);
			if (r.isError) throw new Error(`${tool} ${JSON.stringify(args)}: ${r.text}`);
			if (!same(JSON.parse(r.text), r.content)) throw new Error(`${tool}: the text is not the structured content`);
			count.must++;
			return r.content;
		},
		refused: async (tool, args, phrase) => {
			const r = await client.call(tool, args);
			count.refused++;
			return r.isError && r.content === undefined && r.text.startsWith(phrase) ? undefined : r;
		},
	};
}

/**
 * A whole QA review: a bundle, the deep step, an outcome; with steps that must be
 * refused and leave everything as it was. midway is called with the run id while
 * the review is under way.
 */
export async function review(client, midway = async () => {}) {
	const { must, refused, count } = calls(client);
	const start = "start_qa_orchestration", advance = "advance_qa_orchestration", get = "get_qa_orchestration", finish = "finish_qa_orchestration";
	let s = await must(start, { task_type: "widget_review" });
	const run_id = s.run_id;
	const done = (completed_step, more) => must(advance, { run_id, completed_step, status: "completed", ...more });
	check("start: triage, with a shortlist", s.current_step === "triage" && same(s.recommended_bundles, ["widget", "widget_js"]) && s.model_policy !== null, s);

	let wrong = await refused(advance, { run_id, completed_step: "synthesis", status: "completed" }, "illegal transition");
	check("a step out of order is refused", !wrong, wrong);
	check("and changed nothing", same(await must(get, { run_id }), s), "get differs from start");
	wrong = await refused(advance, { run_id, completed_step: "triage", status: "completed", selected_bundle: "widget", evidence: "sk-secret" }, "invalid arguments");
	check("evidence is refused", !wrong, wrong);

	s = await done("triage", { selected_bundle: "widget" });
	const route = s.review_profiles;
	check("the route has four profiles", same(route, ["code_explorer", "react_reviewer", "typescript_reviewer", "pr_test_analyzer"]), s);
	for (const profile of route) {
		const sheet = await must("prepare_qa_orchestration", { agent_profile: profile });
		if (s.current_profile !== profile || sheet.required_sections[0] !== "Scope") throw new Error(`${profile} is not due: ${JSON.stringify(s)}`);
		const last = profile === route.at(-1);
		s = await done("primary_review", { completed_profile: profile, ...(last && { risk_signals: { high_risk_domain: true, evidence_uncertain: true } }) });
		if (profile === route[1]) await midway(run_id);
	}
	check("the signals lead to the deep step", s.current_step === "deep_review" && s.deep_reason_code === "high_risk_domain" && same(s.completed_profiles, route), s);
	s = await done("deep_review");
	s = await done("synthesis");
	check("synthesis leads to the host's outcome", s.status === "awaiting_host_outcome" && s.model_policy === null, s);
	check("a resource shows the session", same(JSON.parse(await client.read(`qa://sessions/${run_id}`)), s), "the resource differs from the state");
	s = await must(finish, { run_id, outcome: "completed" });
	check("finish: completed", s.status === "completed", s);
	check("finish again: the same", same(await must(finish, { run_id, outcome: "completed" }), s), "finish again differs");
	wrong = await refused(finish, { run_id, outcome: "blocked" }, "conflicting final outcome");
	check("another outcome is refused", !wrong, wrong);

	s = await must(start, { task_type: "other" });
	s = await must(advance, { run_id: s.run_id, completed_step: "triage", status: "blocked" });
	s = await must(finish, { run_id: s.run_id, outcome: "blocked" });
	check("an early stop: blocked", s.status === "blocked" && s.current_step === "triage", s);
	check(`${count.must} calls answered, ${count.refused} refused`, true);
}

/** The script of the demo: the claim, and items for every phase, lazy ones too. */
function script() {
	const phases = {}, root = {};
	let into = root, phase;
	for (const line of readFileSync(new URL("../../locales/play/en.toml", import.meta.url), "utf8").split("\n")) {
		const table = line.match(/^\[\[(phase)(?:\.(\w+))?\]\]$/);
		const pair = line.match(/^(\w+) = (.*)$/);
		if (table?.[2]) phase[table[2]].push((into = {}));
		else if (table) into = phase = { items: [], lazy: [] };
		else if (pair) into[pair[1]] = JSON.parse(pair[2]);
		if (pair && into === phase) phases[phase.name] = phase;
	}
	return { ...root, phases };
}

/** A whole review of the devil's advocate: a lazy attempt, then a real one, then the memo. */
export async function stressTest(client, mode = "devils_advocate") {
	const { must, refused, count } = calls(client);
	const { claim, context, phases } = script();
	let s = await must("start_review", { claim, context, mode });
	const review_id = s.review_id;
	const wrong = [];
	const due = s.phases.length;
	for (let next = s.instructions, i = 0; next; next = s.next_phase, i++) {
		const { items, lazy } = phases[next.phase];
		if (next.phase !== (await must("get_review", { review_id })).phase) throw new Error(`${next.phase} is not due`);
		if (lazy.length) wrong.push(await refused("submit", { review_id, items: lazy }, "nothing was saved"));
		if (i === 0) wrong.push(await refused("get_verdict", { review_id }, `review ${review_id} is not complete`));
		s = await must("submit", { review_id, items });
	}
	check(`${mode}: ${due} phases`, s.status === "complete", s);
	check(`${mode}: lazy items and an early verdict are refused`, wrong.every((r) => r === undefined), wrong);
	const verdict = await must("get_verdict", { review_id });
	const memo = await must("export_report", { review_id });
	check(`${mode}: the verdict and the memo agree`, /^claim /.test(verdict.assessment) && memo.assessment === verdict.assessment && memo.content.startsWith(`# Decision memo: ${claim}`), [verdict, memo]);
	check(`${mode}: a resource shows the memo`, (await client.read(`review://${review_id}`)) === memo.content, "the resource differs from the memo");
	const json = await must("export_report", { review_id, format: "json" });
	check(`${mode}: as JSON too`, JSON.parse(json.content).review_id === review_id, json);
	check(`${mode}: its verdict is final`, !(await refused("abandon_review", { review_id, reason: "changed my mind" }, `review ${review_id} is complete`)), "it was abandoned");
	check(`${mode}: ${count.must} calls answered, ${count.refused} refused`, true);
	return review_id;
}

/** A review that is given up. */
export async function givenUp(client) {
	const { must } = calls(client);
	const { review_id } = await must("start_review", { claim: "We rewrite the billing in Rust", mode: "steelman" });
	const s = await must("abandon_review", { review_id, reason: "The budget is gone" });
	const list = await must("list_reviews", {});
	check("a review that is given up is listed as such", s.status === "abandoned" && list.reviews.some((r) => r.review_id === review_id && r.status === "abandoned"), [s, list]);
}
