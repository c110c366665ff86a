"""Certificates and credentials."""

from collections.abc import Sequence

from tests.integration.api.conformance.fact import Fact, words

SHOW, SIGN = "GET /v1/certificates/{ident}", "POST /v1/certificates"
ROTATE, CREDENTIAL = "PATCH /v1/certificates/{cluster}", "PATCH /v1/credentials/{cluster}"
ONE = "/v1/certificates/<cluster>"
BODY = words("cluster_uuid pem links")
UUID = frozenset({"uuid"})

FACTS: Sequence[Fact] = (
    Fact(SHOW, "shows the CA by the cluster's uuid", ask=ONE, keys=BODY),
    Fact(SHOW, "shows the CA by the cluster's name", ask="/v1/certificates/mine", keys=BODY),
    *(
        Fact(SHOW, f"knows the CA `{kind}`", ask=f"{ONE}?ca_cert_type={kind}", keys=BODY)
        for kind in ("kubernetes", "etcd", "front_proxy")
    ),
    Fact(
        SHOW,
        "an unknown kind is the one of `kubernetes`",
        ask=f"{ONE}?ca_cert_type=other",
        keys=BODY,
    ),
    Fact(
        SHOW,
        "a colleague is refused",
        ask=ONE,
        token="colleague-token",
        status=403,
        has="certificate:get",
    ),
    Fact(SHOW, "an unknown cluster is 404", ask="/v1/certificates/absent", status=404),
    Fact(
        SIGN,
        "answers 201 with request and certificate",
        status=201,
        body={"cluster_uuid": "<cluster>", "csr": "<csr>"},
        keys=BODY | {"csr"},
    ),
    Fact(
        SIGN, "the cluster may be named", status=201, body={"cluster_uuid": "mine", "csr": "<csr>"}
    ),
    Fact(
        SIGN,
        "an unknown kind is signed by `kubernetes`",
        status=201,
        body={"cluster_uuid": "<cluster>", "csr": "<csr>", "ca_cert_type": "other"},
    ),
    Fact(
        SIGN,
        "what is no request is 400",
        status=400,
        body={"cluster_uuid": "<cluster>", "csr": "x"},
    ),
    Fact(
        SIGN,
        "without a request it is 400",
        status=400,
        body={"cluster_uuid": "<cluster>"},
        magnum="answers 500",
    ),
    Fact(
        SIGN,
        "a colleague is refused",
        status=403,
        token="colleague-token",
        body={"cluster_uuid": "<cluster>", "csr": "<csr>"},
        has="certificate:create",
    ),
    Fact(
        ROTATE,
        "answers 202 with the uuid, at any version",
        ask=ONE,
        version="1.1",
        status=202,
        keys=UUID,
    ),
    Fact(
        ROTATE,
        "without TLS it is 400",
        ask="/v1/certificates/<plain>",
        status=400,
        has="tls_disabled",
    ),
    Fact(ROTATE, "an unknown cluster is 404", ask="/v1/certificates/absent", status=404),
    Fact(
        CREDENTIAL,
        "is 406 before 1.12",
        ask="/v1/credentials/<cluster>",
        version="1.11",
        status=406,
        code="",
        headers={"openstack-api-version": None},
    ),
    Fact(
        CREDENTIAL,
        "a driver that cannot is 400, and the cluster stays as it is",
        ask="/v1/credentials/<cluster>",
        version="1.12",
        status=400,
        has="fake",
    ),
    Fact(CREDENTIAL, "an unknown cluster is 404", ask="/v1/credentials/absent", status=404),
)
